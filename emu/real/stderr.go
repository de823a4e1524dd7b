//go:build linux

package real

import (
	"fmt"
	"strings"
	"sync"
)

// tail keeps what a process writes: of much, the beginning, where a Go
// program that panics says why, and the end.
type tail struct {
	mu        sync.Mutex
	head, end []byte
	left      int // bytes left out between them
}

const tailBytes = 4 << 10 // of each: a traceback of some ten frames

func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(b), tailBytes-len(w.head))
	w.head = append(w.head, b[:n]...)
	w.end = append(w.end, b[n:]...)
	if over := len(w.end) - tailBytes; over > 0 {
		w.end = append(w.end[:0], w.end[over:]...)
		w.left += over
	}
	return len(b), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	gap := ""
	if w.left > 0 {
		gap = fmt.Sprintf("\n... (%d bytes)\n", w.left)
	}
	return strings.TrimSpace(string(w.head) + gap + string(w.end))
}

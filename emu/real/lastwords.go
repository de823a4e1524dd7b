//go:build linux

package real

import (
	"fmt"
	"strings"
	"sync"
)

// lastWords keeps what a process writes: of much, the beginning, where a Go
// program that panics says why, and the end.
type lastWords struct {
	mu        sync.Mutex
	head, end []byte
	left      int // bytes left out between them
}

const keptWords = 4 << 10 // of each: a traceback of some ten frames

func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(b), keptWords-len(w.head))
	w.head = append(w.head, b[:n]...)
	w.end = append(w.end, b[n:]...)
	if over := len(w.end) - keptWords; over > 0 {
		w.end = append(w.end[:0], w.end[over:]...)
		w.left += over
	}
	return len(b), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	gap := ""
	if w.left > 0 {
		gap = fmt.Sprintf("\n... (%d bytes)\n", w.left)
	}
	return strings.TrimSpace(string(w.head) + gap + string(w.end))
}

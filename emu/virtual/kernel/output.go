package kernel

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"syscall"
)

func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// tee sends what a tool writes to the log, to its tail, and to a counter of
// lines.
type tee struct {
	log   io.Writer
	tail  *tail
	count *lineCounter
}

func (t *tee) Write(b []byte) (int, error) {
	t.tail.write(b)
	if t.count != nil {
		t.count.write(b)
	}
	return t.log.Write(b)
}

// tail keeps the last lines.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2 << 10

func (t *tail) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}

// lineCounter counts lines.
type lineCounter struct {
	n    int
	each func(n int)
}

func (c *lineCounter) write(b []byte) {
	if lines := bytes.Count(b, []byte("\n")); lines > 0 {
		c.n += lines
		c.each(c.n)
	}
}

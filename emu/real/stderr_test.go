//go:build linux

package real

import (
	"strings"
	"testing"
)

// Of much output the beginning is kept, which has the reason, and the end.
func TestTailOfStandardError(t *testing.T) {
	var w tail
	w.Write([]byte("\npanic: at the disco\n"))
	if got := w.String(); got != "panic: at the disco" {
		t.Errorf("got %q, want the panic", got)
	}
	for range 1000 {
		w.Write([]byte("goroutine and its stack\n"))
	}
	w.Write([]byte("exit status 2\n"))
	got := w.String()
	if !strings.HasPrefix(got, "panic: at the disco\ngoroutine") || !strings.HasSuffix(got, "stack\nexit status 2") ||
		!strings.Contains(got, "\n... (1") {
		t.Errorf("got %d bytes, %.60q...: want the beginning, a gap that is counted, and the end", len(got), got)
	}
	if len(got) > 2*tailBytes+40 {
		t.Errorf("%d bytes are kept, want at most %d", len(got), 2*tailBytes+40)
	}
}

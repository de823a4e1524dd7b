package real

import (
	"strings"
	"testing"
)

// Of many words the first are kept, which say why, and the last.
func TestLastWords(t *testing.T) {
	var w lastWords
	w.Write([]byte("\npanic: at the disco\n"))
	if got := w.String(); got != "panic: at the disco" {
		t.Errorf("%q", got)
	}
	for range 1000 {
		w.Write([]byte("goroutine and its stack\n"))
	}
	w.Write([]byte("exit status 2\n"))
	got := w.String()
	if !strings.HasPrefix(got, "panic: at the disco\ngoroutine") || !strings.HasSuffix(got, "stack\nexit status 2") ||
		!strings.Contains(got, "\n... (1") {
		t.Errorf("%d bytes: %.60q...", len(got), got)
	}
	if len(got) > 2*keptWords+40 {
		t.Errorf("%d bytes are kept", len(got))
	}
}

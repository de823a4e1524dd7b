package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// What cannot be printed is an error, whether the command looks at it or not.
func TestFullOutputIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range []string{"explain", "explain stalls", "--help", "run --help", "version"} {
		t.Run(args, func(t *testing.T) {
			var stderr bytes.Buffer
			if got := execute(context.Background(), strings.Fields(args), full, &stderr); got != exitFailed {
				t.Errorf("exit code %d, want %d", got, exitFailed)
			}
			if !strings.Contains(stderr.String(), "no space left on device") {
				t.Errorf("stderr is %q", stderr.String())
			}
		})
	}
}

// An error's lines are ours: a name in one moves no cursor.
func TestErrorsArePrintable(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n    5 |\tx": "a: b\n    5 |\tx",
		"a \x1b[2J b\nc":   "\"a \\x1b[2J b\"\nc",
	} {
		if got := printableLines(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

package main

import (
	"io/fs"
	"testing"
)

// What programs printed is part of a result; what only looks like it is not.
func TestOutputOfProgramsIsOfTheResult(t *testing.T) {
	for _, c := range []struct {
		name string
		kind fs.FileMode
		want bool
	}{
		{"variants/sird/apps", fs.ModeDir, true},
		{"variants/sird/apps/iperf3-h1-1.out", 0, true},
		{"variants/sird/apps/iperf3-h1-1.out", fs.ModeSymlink, false},
		{"variants/sird/apps/notes.txt", 0, false},
		{"variants/sird/apps/more/x.out", 0, false},
		{"apps/x.out", 0, false},
	} {
		if got := isWritten(c.name, c.kind); got != c.want {
			t.Errorf("%s (%v): got %v, want %v", c.name, c.kind, got, c.want)
		}
	}
}

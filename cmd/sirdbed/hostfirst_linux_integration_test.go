//go:build linux && !portable

package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"sirdbed/cmd/sirdbed/hostfirst"
)

// initTrace is a line of GODEBUG=inittrace=1: a package, and what its
// initialisation has allocated on the heap.
var initTrace = regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes`)

// Hosts run before whatever needs net is initialized, and what libraries allocate
// before them is little: of 144 hosts each pays for it, see package hostfirst.
func TestHostsStartFirst(t *testing.T) {
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	const limit = 1_300_000 // bytes; 1,090,000 when this was written, 730,000 of them of tablewriter
	cmd := exec.Command(path, hostfirst.Command)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if code(err) != exitBadInput || !bytes.Contains(out, []byte("`sirdbed run` starts in each namespace")) {
		t.Fatalf("%v\n%s", err, out)
	}
	sum := 0
	for _, m := range initTrace.FindAllSubmatch(out, -1) {
		n, err := strconv.Atoi(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		sum += n
		if pkg := string(m[1]); pkg == "net" || pkg == "net/netip" {
			t.Errorf("%s is initialized before hosts run", pkg)
		}
	}
	if sum == 0 || sum > limit {
		t.Errorf("%d bytes are allocated before a host runs, want 1 to %d:\n%s", sum, limit, out)
	}
}

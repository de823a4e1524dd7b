package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linuxOnly are the packages that build on Linux alone, with what is below them:
// the engines real and virtual, host processes, and the driver of kernel TCP.
// Nothing imports them but one another and cmd/sirdbed there.
var linuxOnly = []string{
	"baselines/tcp/sockets",
	"cmd/sirdbed/hostfirst",
	"emu/fabric", "emu/internal/burst", "emu/real", "emu/sandbox", "emu/thread", "emu/virtual",
	"sirdnode/clock", "sirdnode/node", "sirdnode/nstest", "sirdnode/ring",
}

// Libraries that only those link.
const (
	eBPF      = "github.com/cilium/ebpf"
	unixCalls = "golang.org/x/sys/unix"
)

// Captures, results, scenarios, the contract of engines, the model and every
// protocol are plain Go: no package links what it does not need.
func TestPackagesLinkOnlyWhatTheyNeed(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			linking := 0
			for pkg, links := range dependencies(t, system) {
				if isLinuxOnly(pkg) {
					linking++
					if system != "linux" {
						t.Errorf("%s has files for %s: want none", pkg, system)
					}
					continue
				}
				program := pkg == "cmd/sirdbed"
				if program && system == "linux" {
					continue
				}
				for _, path := range links {
					its, ours := strings.CutPrefix(path, module+"/")
					switch {
					case ours && isLinuxOnly(its), path == eBPF, path == unixCalls && !program: // which asks for terminals
						t.Errorf("%s links %s", pkg, path)
					}
				}
			}
			if system == "linux" && linking < len(linuxOnly) {
				t.Errorf("%d packages are for Linux alone: want %d or more", linking, len(linuxOnly))
			}
		})
	}
}

// isLinuxOnly tells whether a package of this module is one of linuxOnly, or below
// one.
func isLinuxOnly(pkg string) bool {
	return slices.ContainsFunc(linuxOnly, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

// dependencies maps each package that this module has for an operating system to
// all that it links, tests aside.
func dependencies(t *testing.T, system string) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", system, err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[strings.TrimPrefix(words[0], module+"/")] = words[1:]
	}
	return all
}

//go:build linux

package virtual

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sharedBinary builds the tests as a program that is linked with C's library, as Go does
// where there is a compiler.
func sharedBinary(t *testing.T) (path string) {
	t.Helper()
	requireKernel(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	path = filepath.Join(t.TempDir(), "tests")
	build := exec.Command("go", "test", "-c", "-ldflags=-linkmode=external", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) == 0 {
		t.Fatalf("the program needs no libraries (%v): nothing is tested", err)
	}
	return path
}

// copyOfC copies C's library into a directory, and returns the copy.
func copyOfC(t *testing.T, dir string) (path string) {
	t.Helper()
	out, err := exec.Command("gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "libc.so.6")
	if out, err := exec.Command("cp", strings.TrimSpace(string(out)), path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// Such a program runs in a guest that sees as little of the machine as with a static one,
// wherever the loader has found the libraries.
func TestGuestRunsProgramsWithLibraries(t *testing.T) {
	binary := sharedBinary(t)
	elsewhere := t.TempDir()
	copyOfC(t, elsewhere)
	preloaded := filepath.Join(t.TempDir(), "line\nbreak.so")
	compile := exec.Command("gcc", "-shared", "-fPIC", "-x", "c", "-o", preloaded, "-")
	compile.Stdin = strings.NewReader("int preloaded(void) { return 1; }\n")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, variable := range map[string]string{
		"its own directory": "", "LD_LIBRARY_PATH": "LD_LIBRARY_PATH=" + elsewhere,
		"LD_PRELOAD": "LD_PRELOAD=" + preloaded,
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(binary, "-test.v", "-test.run=^TestGuestSeesWhatItIsShown$")
			cmd.Env = append(os.Environ(), variable)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestGuestSeesWhatItIsShown") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Libraries that the machine replaces between two runs of a process have no part in the
// second.
func TestLibrariesAreReplacedBetweenRuns(t *testing.T) {
	binary := sharedBinary(t)
	library := copyOfC(t, t.TempDir())
	scratch := t.TempDir()
	cmd := exec.Command(binary, "-test.v", "-test.run=^TestGuestSeesWhatItIsShown$", "-test.count=2")
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Dir(library), "TMPDIR="+scratch)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	// The program is copied after its libraries.
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(scratch, "sirdbed-scratch-*", "init")); len(found) > 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("no guest begins")
		}
	}
	if err := os.Remove(library); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library, []byte("another version"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Count(out.String(), "--- PASS") != 2 {
		t.Errorf("%v, want two that pass:\n%s", err, out.String())
	}
}

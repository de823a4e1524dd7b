//go:build linux

package guest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A library lies at its names in the scratch directory, whatever these are; what the guest
// has there itself is an error that says what to do.
func TestLibrariesHaveTheirNames(t *testing.T) {
	own := ownLibraries
	defer func() { ownLibraries = own }()
	for name, wrong := range map[string]string{
		"/root/lib/a.so": "", "/show/a.so": "", "/input/a.so": "", "/stop": "", "/job.json": "", "/initial/a.so": "",
		"/init": "guests have a /init", "/init/a.so": "guests have a /init", "/.guest/a.so": "guests have a /.guest",
		"/.uml/guest/a.so": "guests have a /.uml",
	} {
		t.Run(name, func(t *testing.T) {
			file := codeFile(t, "a library")
			ownLibraries = func() ([]library, error) { return []library{{file, []string{name, "/lib/a.so"}}}, nil }
			d := ownDirIn(t, t.TempDir())
			err := fill(d, &Config{Argv: []string{"command"}, Show: []string{"/a"}})
			if wrong != "" {
				if err == nil || !strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), staticRemedy) {
					t.Errorf("got %v, want that %s, and to be told of programs without libraries", err, wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []string{name, "/lib/a.so"} {
				if text, err := os.ReadFile(d.path() + at); string(text) != "a library" {
					t.Errorf("%s has %q (%v)", at, text, err)
				}
			}
			var job Job
			text, _ := os.ReadFile(filepath.Join(d.path(), jobFile))
			err = json.Unmarshal(text, &job)
			if want := []string{name, "/lib/a.so"}; err != nil || !slices.Equal(job.Libraries, want) {
				t.Errorf("the job has %q (%v), want %q", job.Libraries, err, want)
			}
		})
	}
}

// codeFile opens a file with a text.
func codeFile(t *testing.T, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "line\nbreak.so")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// What is mapped is found under its name, a line break and all. When it is there no more,
// root has it yet, and others are told to start again.
func TestMappedCode(t *testing.T) {
	file := codeFile(t, "code")
	path := file.Name()
	page, err := unix.Mmap(int(file.Fd()), 0, 4, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	find := func(path string) mapping {
		t.Helper()
		list, err := mappedCode("/proc/self/maps")
		i := slices.IndexFunc(list, func(m mapping) bool { return m.path == path })
		if i < 0 {
			t.Fatalf("no %q among %q (%v)", path, list, err)
		}
		return list[i]
	}
	if opened, err := find(path).open(); err != nil || !sameFile(opened, path) {
		t.Errorf("got %v (%v), want %q", opened, err, path)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	m := find(path + deleted)
	if m.name() != path {
		t.Errorf("it was called %q, want %q", m.name(), path)
	}
	opened, err := m.open()
	if err != nil {
		if !strings.Contains(err.Error(), "start it again") {
			t.Errorf("got %v, want to be told to start again", err)
		}
		return
	}
	text := make([]byte, 4)
	if _, err := opened.ReadAt(text, 0); string(text) != "code" {
		t.Errorf("it has %q (%v)", text, err)
	}
}

// A library is called what programs ask for in the directories where the loader looks, that
// of the loader itself among them.
func TestLibraryNames(t *testing.T) {
	file := codeFile(t, "no library")
	got := libraryNames(file, "/opt/x/libc.so.6", "/nix/glibc/lib/ld.so")
	want := []string{"/opt/x/libc.so.6", "/nix/glibc/lib/libc.so.6", "/lib/libc.so.6", "/usr/lib/libc.so.6"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := libraryNames(file, "/lib/a", file.Name()); !slices.Contains(got, file.Name()) {
		t.Errorf("got %q, want the loader %q among them", got, file.Name())
	}
}

//go:build linux

package guest

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A program that Go has linked with C's library needs that, and the loader, at names
// where the loader looks in the guest. Which files these are is known from what this
// process has mapped: the loader has found them.

// staticRemedy ends what is said of shared libraries that a guest cannot have.
const staticRemedy = "CGO_ENABLED=0 go build makes a program that needs none"

// A library is a file that this process has mapped as code, its program apart, and
// what it is called: where it lies first.
type library struct {
	file  *os.File
	names []string
}

// ownLibraries are those of this process, none for a static program. They are opened
// once, and stay open: the machine may replace them while a process makes several runs.
var ownLibraries = sync.OnceValues(func() ([]library, error) {
	list, err := openLibraries()
	if err != nil {
		return nil, fmt.Errorf("shared libraries of this program: %w (%s)", err, staticRemedy)
	}
	return list, nil
})

func openLibraries() ([]library, error) {
	loader, err := loaderName("/proc/self/exe")
	if loader == "" || err != nil {
		return nil, err
	}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	mapped, err := mappedCode("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	var list []library
	found := false
	for _, m := range mapped {
		if strings.TrimSuffix(m.path, deleted) == strings.TrimSuffix(program, deleted) {
			continue
		}
		file, err := m.open()
		if err != nil {
			return nil, err
		}
		l := library{file, libraryNames(file, m.name(), loader)}
		list = append(list, l)
		found = found || slices.Contains(l.names, loader)
	}
	if !found {
		return nil, fmt.Errorf("the loader %s is not mapped", loader)
	}
	return list, nil
}

// libraryNames are what a library is called in a guest: its path, and what programs ask
// for in the directories where a loader looks by itself. The machine's settings for the
// loader, its cache and LD_LIBRARY_PATH, are not there.
func libraryNames(file *os.File, path, loader string) []string {
	name := sharedName(file)
	if name == "" {
		name = filepath.Base(path)
	}
	names := []string{path}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(loader), "/lib", "/usr/lib"} {
		names = append(names, filepath.Join(dir, name))
	}
	if sameFile(file, loader) {
		names = append(names, loader)
	}
	return distinct(names)
}

// distinct leaves the first of names that are equal.
func distinct(names []string) (list []string) {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// loaderName is the loader that a program asks for, "" if it needs none.
func loaderName(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			text := make([]byte, p.Filesz)
			if _, err := p.ReadAt(text, 0); err != nil {
				return "", err
			}
			return strings.TrimRight(string(text), "\x00"), nil
		}
	}
	return "", nil
}

// sharedName is the name by which programs ask for a library, "" if it has none.
func sharedName(file *os.File) string {
	f, err := elf.NewFile(file)
	if err != nil {
		return ""
	}
	if names, err := f.DynString(elf.DT_SONAME); err == nil && len(names) > 0 && !strings.Contains(names[0], "/") {
		return names[0]
	}
	return ""
}

// sameFile reports whether a path leads to an open file.
func sameFile(file *os.File, path string) bool {
	a, err1 := file.Stat()
	b, err2 := os.Stat(path)
	return errors.Join(err1, err2) == nil && os.SameFile(a, b)
}

//go:build linux

package guest

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A program that Go has linked with C's library needs that, and the loader, at their
// own names in the guest. Which files these are is known from what this process has
// mapped: the loader has found them.

// A library is a file that this process has mapped as code, its program apart, and
// what it is called: where it lies first.
type library struct {
	names []string
}

// libraries lists them, none for a static program.
func libraries() ([]library, error) {
	loader, err := loaderName("/proc/self/exe")
	if loader == "" || err != nil {
		return nil, err
	}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	paths, err := mappedCode("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	var list []library
	for _, path := range paths {
		if path == program || strings.HasSuffix(path, " (deleted)") && strings.HasPrefix(path, program) {
			continue
		}
		l := library{names: []string{path}}
		if same, err := sameFile(path, loader); err != nil {
			return nil, err
		} else if same {
			l.call(loader)
		}
		if name := sharedName(path); name != "" {
			l.call(filepath.Join(filepath.Dir(path), name))
		}
		list = append(list, l)
	}
	return list, nil
}

// call adds a name.
func (l *library) call(name string) {
	if !slices.Contains(l.names, name) {
		l.names = append(l.names, name)
	}
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
func sharedName(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if names, err := f.DynString(elf.DT_SONAME); err == nil && len(names) > 0 && !strings.Contains(names[0], "/") {
		return names[0]
	}
	return ""
}

// mappedCode lists the files of a table of mappings that can be executed.
func mappedCode(maps string) (paths []string, err error) {
	f, err := os.Open(maps)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 6) // range, rights, offset, device, inode, path
		if len(fields) < 6 || !strings.Contains(fields[1], "x") {
			continue
		}
		if path := strings.TrimLeft(fields[5], " "); strings.HasPrefix(path, "/") && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, lines.Err()
}

func sameFile(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y), err
}

// copyLibraries copies the libraries of this process into a scratch directory, at
// their names, and returns these.
func copyLibraries(dir *ownDir) (names []string, err error) {
	list, err := libraries()
	if err != nil {
		return nil, fmt.Errorf("shared libraries of this program: %w (CGO_ENABLED=0 go build makes one without)", err)
	}
	for _, l := range list {
		for i, name := range l.names {
			inside := strings.TrimPrefix(name, "/")
			if err := dir.root.MkdirAll(filepath.Dir(inside), 0o700); err != nil {
				return nil, err
			}
			if i == 0 {
				err = copyInto(dir, inside, name)
			} else {
				err = dir.root.Link(strings.TrimPrefix(l.names[0], "/"), inside)
			}
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		names = append(names, l.names...)
	}
	return names, nil
}

// bindLibraries shows libraries in the guest's root, which is empty as yet.
func bindLibraries(root string, names []string) error {
	for _, name := range names {
		at := root + name
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			return err
		}
		if err := unix.Mount(name, at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

//go:build linux

package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ownNames are what the scratch directory has at its top besides libraries.
var ownNames = []string{initFile, guestDir, umlDir}

// copyLibraries copies the libraries of this process into a scratch directory, at
// their names, and returns these.
func copyLibraries(dir *ownDir) ([]string, error) {
	list, err := ownLibraries()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range list {
		if err := l.copy(dir); err != nil {
			return nil, err
		}
		names = append(names, l.names...)
	}
	return distinct(names), nil
}

// copy copies a library. What is at one of its names already stays.
func (l *library) copy(dir *ownDir) error {
	for i, name := range l.names {
		inside := strings.TrimPrefix(name, "/")
		if top, _, _ := strings.Cut(inside, "/"); slices.Contains(ownNames, top) {
			return fmt.Errorf("the library %s: guests have a /%s of their own: move it (%s)", name, top, staticRemedy)
		}
		err := dir.root.MkdirAll(filepath.Dir(inside), 0o700)
		if err == nil && i == 0 {
			err = copyInto(dir, inside, l.file)
		} else if err == nil {
			err = dir.root.Link(strings.TrimPrefix(l.names[0], "/"), inside)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
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

// Package atomicfile writes files that are either whole or not there, whenever
// the process that writes them is killed.
package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Suffix is what the name of a file has at its end as long as it is not whole. A process
// that is killed leaves it so.
const Suffix = ".part"

// Write has write fill a file beside path, which takes path's place once that has
// succeeded. On failure nothing is left of it, and a file that was at path stays.
// write must not close the file. Links are replaced, not followed, so the directory
// may be another user's.
func Write(path string, write func(*os.File) error) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return WriteIn(root, filepath.Base(path), write)
}

// WriteIn is Write of a file below an open directory.
func WriteIn(root *os.Root, name string, write func(*os.File) error) error {
	return writeIn(root, name, 0o666, write)
}

// WriteAloneIn is WriteIn of a file that no other user can open, not even to lock it,
// until write has returned.
func WriteAloneIn(root *os.Root, name string, write func(*os.File) error) error {
	mode, err := usualMode(root, name+Suffix)
	if err != nil {
		return err
	}
	return writeIn(root, name, 0o600, func(file *os.File) error {
		if err := write(file); err != nil {
			return err
		}
		info, err := file.Stat()
		if err != nil || info.Mode() == mode { // also where files have no modes of their own
			return err
		}
		return file.Chmod(mode)
	})
}

// usualMode is the mode that new files get in the directory of part, which it makes and
// removes: the umask counts, and the directory's ACL.
func usualMode(root *os.Root, part string) (fs.FileMode, error) {
	file, err := create(root, part, 0o666)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err = errors.Join(err, root.Remove(part)); err != nil {
		return 0, err
	}
	return info.Mode(), nil
}

// create makes a file, in place of one that a process has left that was killed.
func create(root *os.Root, part string, mode fs.FileMode) (*os.File, error) {
	if err := root.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return root.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
}

func writeIn(root *os.Root, name string, mode fs.FileMode, write func(*os.File) error) (err error) {
	part := name + Suffix
	file, err := create(root, part, mode)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
		if err == nil {
			err = root.Rename(part, name)
		}
		if err != nil {
			root.Remove(part)
		}
	}()
	return write(file)
}

// JSON writes a value to path as indented JSON.
func JSON(path string, value any) error {
	text, err := Indented(value)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return Write(path, func(file *os.File) error {
		_, err := file.Write(text)
		return err
	})
}

// Indented is a value as indented JSON, with a line break at its end.
func Indented(value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	return append(text, '\n'), err
}

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
func WriteIn(root *os.Root, name string, write func(*os.File) error) (err error) {
	part := name + Suffix
	if err := root.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return err
	}
	file, err := root.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
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

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

// Write has write fill a file beside path, which takes path's place once that has
// succeeded. On failure nothing is left of it, and a file that was at path stays.
// write must not close the file. Links are replaced, not followed, so the directory
// may be another user's.
func Write(path string, write func(*os.File) error) (err error) {
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return err
	}
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
		if err == nil {
			err = os.Rename(part, path)
		}
		if err != nil {
			os.Remove(part)
		}
	}()
	return write(file)
}

// JSON writes a value to path as indented JSON.
func JSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return Write(path, func(file *os.File) error {
		_, err := file.Write(append(text, '\n'))
		return err
	})
}

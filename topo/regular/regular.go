// Package regular opens regular files and nothing else: a pipe keeps nobody waiting, and
// a device is left alone. What it is asked for may be another user's to make, or to
// replace at any moment. It knows nothing of fabrics; it lies here because topo/limit reads
// files by it, and engines do too.
package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrReplaced is matched by the error of a file that another one took the place of while it
// was opened.
var ErrReplaced = errors.New("it was replaced while it was opened: try again")

// Open opens a file for reading that a user has named. A link to it is followed.
func Open(path string) (*os.File, error) {
	return open("open", path, "want a regular file",
		func() (fs.FileInfo, error) { return os.Stat(path) },
		func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
}

// OpenIn opens a file that is there in a directory, for how: os.O_RDONLY or os.O_RDWR. A
// link is not followed, wherever it leads.
func OpenIn(dir *os.Root, name string, how int) (*os.File, error) {
	return open("openat", name, "remove it, want a regular file",
		func() (fs.FileInfo, error) { return dir.Lstat(name) },
		func() (*os.File, error) { return dir.OpenFile(name, how|syscall.O_NONBLOCK, 0) })
}

// open opens a file if stat finds that it is regular, and if it has not become another
// since. mend is what to do about one that is not.
func open(
	op, path, mend string, stat func() (fs.FileInfo, error), open func() (*os.File, error),
) (*os.File, error) {
	before, err := stat()
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("%s: %s", kind(before.Mode()), mend)}
	}
	file, err := open()
	if err != nil {
		return nil, err
	}
	now, err := file.Stat()
	if err == nil && !os.SameFile(before, now) {
		err = &fs.PathError{Op: op, Path: path, Err: ErrReplaced}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a file"
}

// Package tree is how the files of a result are opened, read and written: all of
// them below one open directory, whoever else can write there.
//
// No link leads out of the directory, and none is opened as a file; only regular
// files are opened, so that a pipe blocks nobody and a device is left alone; and what
// is written is either a new file or takes another's place. What root makes for a
// user of sudo is that user's as soon as it is made, by its descriptor (see Own).
//
// Names are relative to the directory, with slashes.
package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sirdbed/emu/atomicfile"
	"sirdbed/topo/regular"
)

// A Dir is an open directory. It stays the one that was opened, whatever its path
// leads to later. Its methods may be called from any goroutine.
type Dir struct {
	root *os.Root
	path string
}

// Open opens a directory that is there. Links on the way are followed: the path is
// what the user said.
func Open(path string) (*Dir, error) {
	if path == "" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	// The separator makes anything but a directory an error: opening a pipe would block.
	root, err := os.OpenRoot(strings.TrimRight(path, string(filepath.Separator)) + string(filepath.Separator))
	if e, ok := err.(*fs.PathError); ok {
		err = &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	if err != nil {
		return nil, err
	}
	return &Dir{root, path}, nil
}

// Make opens a directory, and makes it and those above it as far as they are not
// there.
func Make(path string) (*Dir, error) {
	d, err := Open(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	path = filepath.Clean(path)
	if _, e := os.Lstat(path); e == nil || filepath.Dir(path) == path { // a link to nothing
		return nil, err
	}
	above, err := Make(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	d, err = above.Make(filepath.Base(path))
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return Open(path)
	}
	return d, err
}

// Close gives the descriptor back.
func (d *Dir) Close() error { return d.root.Close() }

// Path is the directory's path as it was opened, for messages.
func (d *Dir) Path() string { return d.path }

// At is the path of a name, for messages.
func (d *Dir) At(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// Sub opens a directory below d.
func (d *Dir) Sub(name string) (*Dir, error) {
	name = filepath.FromSlash(name)
	info, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return nil, d.located(err)
	case info.Mode().Type() == fs.ModeSymlink:
		return nil, fmt.Errorf("%s is a link, which is not followed: remove it", d.At(name))
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory: remove it", d.At(name))
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, d.located(err)
	}
	return &Dir{root, d.At(name)}, nil
}

// Make makes a directory below d, which must not be there.
func (d *Dir) Make(name string) (*Dir, error) {
	if err := d.root.Mkdir(filepath.FromSlash(name), 0o777); err != nil {
		return nil, d.located(err)
	}
	sub, err := d.Sub(name)
	if err != nil {
		return nil, err
	}
	sub.own()
	return sub, nil
}

// own is Own of the directory itself.
func (d *Dir) own() {
	if file, err := d.root.Open("."); err == nil {
		Own(file)
		file.Close()
	}
}

// Open opens a file for reading.
func (d *Dir) Open(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }

// Edit opens a file that is there for reading and writing.
func (d *Dir) Edit(name string) (*os.File, error) { return d.open(name, os.O_RDWR) }

func (d *Dir) open(name string, how int) (*os.File, error) {
	file, err := regular.OpenIn(d.root, filepath.FromSlash(name), how)
	return file, d.located(err)
}

// MaxText is the size up to which a file is read as a whole: many times what those
// of the largest results have, and little enough to fit into memory.
const MaxText = 1 << 30

// Read reads a file as a whole.
func (d *Dir) Read(name string) ([]byte, error) { return readAll(d.Open(name)) }

// ReadFile reads a file as a whole that a user has named. Other than of a result's own
// files, links to it are followed.
func ReadFile(path string) ([]byte, error) { return readAll(regular.Open(path)) }

func readAll(file *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxText+1))
	if err == nil && len(text) > MaxText {
		err = fmt.Errorf("%s has more than %d bytes", file.Name(), MaxText)
	}
	return text, err
}

// Create makes a file, which must not be there, for writing.
func (d *Dir) Create(name string) (*os.File, error) {
	file, err := d.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		Own(file)
	}
	return file, d.located(err)
}

// Write writes a file whole or not at all; see package atomicfile.
func (d *Dir) Write(name string, write func(*os.File) error) error {
	return d.located(atomicfile.WriteIn(d.root, filepath.FromSlash(name), owned(write)))
}

// WriteAlone is Write of a file that no other user can open until write has returned.
func (d *Dir) WriteAlone(name string, write func(*os.File) error) error {
	return d.located(atomicfile.WriteAloneIn(d.root, filepath.FromSlash(name), owned(write)))
}

// owned is write of a file that is made its owner's first (see Own).
func owned(write func(*os.File) error) func(*os.File) error {
	return func(file *os.File) error {
		Own(file)
		return write(file)
	}
}

// WriteText is Write of a text.
func (d *Dir) WriteText(name string, text []byte) error {
	return d.Write(name, func(file *os.File) error {
		_, err := file.Write(text)
		return err
	})
}

// WriteJSON is Write of a value as indented JSON.
func (d *Dir) WriteJSON(name string, value any) error {
	text, err := atomicfile.Indented(value)
	if err != nil {
		return fmt.Errorf("%s: %w", d.At(name), err)
	}
	return d.WriteText(name, text)
}

// List lists what is in a directory below d, or in d itself: ".".
func (d *Dir) List(name string) ([]fs.DirEntry, error) {
	sub := d
	if name != "." {
		var err error
		if sub, err = d.Sub(name); err != nil {
			return nil, err
		}
		defer sub.Close()
	}
	return fs.ReadDir(sub.root.FS(), ".")
}

// Walk calls visit for all that is in d, by name, each directory before what is in
// it; see fs.WalkDir.
func (d *Dir) Walk(visit fs.WalkDirFunc) error { return fs.WalkDir(d.root.FS(), ".", visit) }

// Lstat describes what has a name, without following a link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	info, err := d.root.Lstat(filepath.FromSlash(name))
	return info, d.located(err)
}

// Rename gives a file or directory another name.
func (d *Dir) Rename(from, to string) error {
	return d.located(d.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to)))
}

// Remove removes a file, a link or an empty directory.
func (d *Dir) Remove(name string) error { return d.located(d.root.Remove(filepath.FromSlash(name))) }

// located puts the directory into an error that names a file in it alone.
func (d *Dir) located(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		op, _ := strings.CutSuffix(e.Op, "at")
		switch e.Op {
		case "openat", "mkdirat", "removeat", "statat": // as package os calls them
			return &fs.PathError{Op: op, Path: d.At(e.Path), Err: e.Err}
		}
	}
	if e, ok := err.(*os.LinkError); ok {
		return &fs.PathError{Op: "rename", Path: d.At(e.New), Err: e.Err}
	}
	return err
}

//go:build linux

package guest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Scratch directories lie where every user may write, under names that anybody may
// use. So sirdbed touches only directories that are its user's own and nobody else's
// to write to, and only by descriptor: no link is followed, nothing but a directory
// is opened, and no name that somebody might have exchanged is looked up twice.
//
// Its lock (flock) shows that a directory is in use. It is made by name and locked
// after that, so a sweep may be faster: it locks what it removes, and whoever has made
// a directory checks, under the lock, that it is still there.

const (
	dirPrefix = "sirdbed-scratch-"
	// makeTries is how often a new directory may be swept before it is locked, or its
	// name be another's.
	makeTries = 100
)

// errForeign is the reason for leaving a directory alone.
var errForeign = errors.New("it is not this user's own, with mode 0700: chmod 700 it, or have it removed")

// An ownDir is a scratch directory of this user's, locked. Close unlocks it.
type ownDir struct {
	parent *os.File
	name   string // in parent
	file   *os.File
	root   *os.Root // the same; for its files
}

// openParent opens a directory that has scratch directories.
func openParent(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// makeOwnDir makes a directory. parent may be closed after that.
func makeOwnDir(parent *os.File) (*ownDir, error) {
	for range makeTries {
		name := dirPrefix + rand.Text()[:10]
		err := unix.Mkdirat(int(parent.Fd()), name, 0o700)
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		if err != nil {
			return nil, err
		}
		d, err := openOwnDir(parent, name)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EWOULDBLOCK) {
			continue // swept, or just being
		}
		if err != nil {
			_ = unix.Unlinkat(int(parent.Fd()), name, unix.AT_REMOVEDIR)
		}
		return d, err
	}
	return nil, fmt.Errorf("%d new directories were removed at once", makeTries)
}

// openOwnDir opens and locks the directory of that name. EWOULDBLOCK is the error for
// one in use.
func openOwnDir(parent *os.File, name string) (*ownDir, error) {
	if !strings.HasPrefix(name, dirPrefix) || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q is no name of a scratch directory", name)
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Openat(int(parent.Fd()), name, flags, 0)
	if err != nil {
		return nil, err
	}
	d := &ownDir{name: name, file: os.NewFile(uintptr(fd), parent.Name()+"/"+name)}
	if err := d.claim(parent); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// claim sees to it that the directory is this user's own, locked, and there.
func (d *ownDir) claim(parent *os.File) error {
	fd := int(d.file.Fd())
	var mine, there unix.Stat_t
	if err := unix.Fstat(fd, &mine); err != nil {
		return err
	}
	if mine.Uid != uint32(os.Geteuid()) || mine.Mode&0o777 != 0o700 {
		return errForeign
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if err := unix.Fstatat(int(parent.Fd()), d.name, &there, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if there.Ino != mine.Ino || there.Dev != mine.Dev {
		return unix.ENOENT
	}
	p, err := unix.FcntlInt(parent.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	d.parent = os.NewFile(uintptr(p), parent.Name())
	d.root, err = os.OpenRoot(fdPath(fd))
	return err
}

// path is the directory's name, for people and for the kernel.
func (d *ownDir) path() string { return d.file.Name() }

// remove removes the directory with all that is in it. It stays open, and locked.
func (d *ownDir) remove() error {
	entries, err := os.ReadDir(fdPath(int(d.file.Fd())))
	if err != nil {
		return err
	}
	for _, e := range entries {
		err = errors.Join(err, d.root.RemoveAll(e.Name()))
	}
	if err != nil {
		return err
	}
	return unix.Unlinkat(int(d.parent.Fd()), d.name, unix.AT_REMOVEDIR)
}

// unlock lets others remove the directory, which stays open.
func (d *ownDir) unlock() { _ = unix.Flock(int(d.file.Fd()), unix.LOCK_UN) }

func (d *ownDir) close() {
	for _, file := range []*os.File{d.parent, d.file} {
		if file != nil {
			file.Close()
		}
	}
	if d.root != nil {
		d.root.Close()
	}
}

// sweep removes the scratch directories that killed processes have left: a machine
// that is switched off, or a cleaner that is killed too, leaves some small files.
func sweep(parent *os.File) (removed []string) {
	entries, _ := os.ReadDir(fdPath(int(parent.Fd())))
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) {
			continue
		}
		d, err := openOwnDir(parent, e.Name())
		if err != nil {
			continue // another user's, or in use
		}
		if d.remove() == nil { // what cannot be removed stays
			removed = append(removed, d.path())
		}
		d.close()
	}
	return removed
}

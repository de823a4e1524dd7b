//go:build linux

package rights

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/emu/sudo"
)

// maxLinks is how many links a path may lead through, as for the kernel.
const maxLinks = 40

// Trusted returns why root must not execute what is at a path, nor build there what
// it will: the file, a directory on the way to it, or a link, is another user's or
// may be changed by one. What is not there yet is fine. To anybody but root it
// returns nil: an ordinary user endangers himself only.
func Trusted(path string) error {
	if !sudo.Root() {
		return nil
	}
	return trusted(path)
}

func trusted(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	at, links := "/", 0
	if err := rootsAlone(at); err != nil {
		return err
	}
	for rest := split(path); len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		err := rootsAlone(next)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			return nil
		}
		if err != nil {
			return err
		}
		target, err := os.Readlink(next)
		if err != nil { // no link
			at = next
			continue
		}
		if links++; links > maxLinks {
			return fmt.Errorf("%s: too many links", path)
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(split(target), rest...)
	}
	return nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
}

// rootsAlone returns an error unless root alone can change a file, or what a
// directory has of root's: in one like /tmp nobody can remove what is another's.
func rootsAlone(path string) error {
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		return &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	const writable = unix.S_IWGRP | unix.S_IWOTH
	shared := s.Mode&unix.S_IFMT == unix.S_IFDIR && s.Mode&unix.S_ISVTX != 0
	link := s.Mode&unix.S_IFMT == unix.S_IFLNK
	switch {
	case s.Uid != 0:
		return fmt.Errorf("%s belongs to user %d", path, s.Uid)
	case s.Mode&writable != 0 && !shared && !link:
		return fmt.Errorf("%s may be written by others (mode %04o)", path, s.Mode&0o7777)
	}
	return nil
}

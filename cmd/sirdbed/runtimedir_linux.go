//go:build !portable

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"sirdbed/topo/regular"
)

// runtimeDirVar passes the runtime directory into a sandbox, where every user seems
// to be root.
const runtimeDirVar = "SIRDBED_RUNTIME_DIR"

// runtimeDir returns where state files are. A process in a user namespace takes
// itself for root, so what starts one passes the directory on in
// $SIRDBED_RUNTIME_DIR.
func runtimeDir() string {
	if dir := os.Getenv(runtimeDirVar); dir != "" {
		return dir
	}
	if os.Getuid() == 0 {
		return "/run/sirdbed"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "sirdbed")
	}
	return fmt.Sprintf("/tmp/sirdbed-%d", os.Getuid())
}

// makeRuntimeDir opens the runtime directory and makes it where there is none.
func makeRuntimeDir() (*os.Root, error) {
	if err := os.MkdirAll(filepath.Dir(runtimeDir()), 0o700); err != nil {
		return nil, fmt.Errorf("runtime directory: %w", err)
	}
	if err := os.Mkdir(runtimeDir(), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("runtime directory: %w", err)
	}
	return openRuntimeDir()
}

// openRuntimeDir opens the runtime directory. Anybody can guess its name and, in /tmp,
// make something else of that name first: it must be a directory of this user's that
// nobody else can use, and not a link to one. What is in it is then this user's too.
func openRuntimeDir() (*os.Root, error) {
	path := runtimeDir()
	named, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("runtime directory: %w", err)
	}
	wrong := func(what, mend string) error {
		return fmt.Errorf("runtime directory %s: %s: %s", path, what, mend)
	}
	if named.Mode()&os.ModeSymlink != 0 {
		return nil, wrong("it is a link", otherRuntimeDir)
	}
	if !named.IsDir() {
		return nil, wrong("it is not a directory", otherRuntimeDir)
	}
	root, err := os.OpenRoot(path + "/.") // fails where a pipe has taken its place, and does not wait
	if err != nil {
		return nil, fmt.Errorf("runtime directory: %w", err)
	}
	opened, err := root.Stat(".")
	switch {
	case err != nil:
		err = fmt.Errorf("runtime directory: %w", err)
	case !os.SameFile(named, opened):
		err = wrong("somebody replaces it", otherRuntimeDir)
	case !mine(opened):
		err = wrong("it belongs to another user", otherRuntimeDir)
	case opened.Mode().Perm()&0o077 != 0:
		err = wrong(fmt.Sprintf("others may use it (mode %03o)", opened.Mode().Perm()), "chmod 700 "+path)
	default:
		return root, nil
	}
	root.Close()
	return nil, err
}

// otherRuntimeDir is what to do where somebody else's directory has the name.
const otherRuntimeDir = "have it removed, or set XDG_RUNTIME_DIR to a directory of your own"

// mine reports whether a file belongs to this process's user.
func mine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// openOwn opens a file of the runtime directory, which must be this user's.
func openOwn(dir *os.Root, name string) (*os.File, error) {
	file, err := regular.OpenIn(dir, name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !mine(info) {
		err = errors.New("it belongs to another user")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// removeFile removes name from the runtime directory if it is still that of an open
// file.
func removeFile(dir *os.Root, name string, file *os.File) (removed bool, err error) {
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := dir.Lstat(name)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(opened, named) {
		return false, nil
	}
	if err == nil {
		err = dir.Remove(name)
	}
	return err == nil, err
}

//go:build unix

package tree

import (
	"io/fs"
	"os"
	"syscall"

	"sirdbed/emu/sudo"
)

// Own makes a file or directory that this process has just made the user's who called
// sudo, if it runs under sudo. It is best effort: what belongs to root is a result
// too.
func Own(file *os.File) {
	if uid, gid, ok := sudo.CallerIDs(); ok {
		_ = file.Chown(uid, gid)
	}
}

// OwnAll is Own of all in a directory that another process has made for this one: of
// directories, and of files with a single name, if they are root's.
func (d *Dir) OwnAll() {
	if _, _, ok := sudo.CallerIDs(); !ok {
		return
	}
	_ = d.Walk(func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // best effort
		}
		var file *os.File
		if entry.IsDir() {
			file, err = d.root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
		} else {
			file, err = d.Open(name)
		}
		if err != nil {
			return nil
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil {
			stat, ok := info.Sys().(*syscall.Stat_t)
			if ok && stat.Uid == 0 && (info.IsDir() || stat.Nlink == 1) {
				Own(file)
			}
		}
		return nil
	})
}

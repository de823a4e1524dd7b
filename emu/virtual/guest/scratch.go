//go:build linux

package guest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A workspace is where a guest has its files: the scratch directory and its
// memory.
type scratch struct {
	dir string
	own *os.File // the root of the memory's own file system; nil: dir
}

// newScratch makes the scratch directory. TMPDIR, where it is set, must have
// room for the memory too.
func newScratch(memory int64) (*scratch, error) {
	s := &scratch{}
	wanted := memory
	if os.Getenv("TMPDIR") == "" {
		if own, err := ownMemory(); err == nil {
			if usable(fdPath(int(own.Fd())), memory) == nil {
				s.own, wanted = own, 0
			} else {
				own.Close()
			}
		}
	}
	var err error
	if s.dir, err = makeScratchDir(wanted); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *scratch) close() {
	if s.own != nil {
		s.own.Close()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// configure gives a command the workspace, as its working directory and TMPDIR.
func (s *scratch) configure(cmd *exec.Cmd) {
	memory := s.dir
	if s.own != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, s.own)
		memory = fdPath(2 + len(cmd.ExtraFiles))
	}
	cmd.Dir = s.dir
	cmd.Env = append(cmd.Env, "TMPDIR="+memory, "HOME="+s.dir)
}

// handle is the name of an open directory.
func fdPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// makeScratchDir makes the scratch directory where as much memory has room and may be
// mapped executable.
func makeScratchDir(memory int64) (string, error) {
	var reasons []string
	for _, parent := range scratchParents() {
		sweep(parent)
		dir, err := os.MkdirTemp(parent, dirPrefix)
		if err == nil {
			if err = usable(dir, memory); err == nil {
				return dir, nil
			}
			os.RemoveAll(dir)
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", parent, err))
	}
	return "", fmt.Errorf("no directory for the guest's memory: set TMPDIR to one with %d MB free that is not mounted "+
		"noexec:\n%s",
		memory>>20, strings.Join(reasons, "\n"))
}

// usable returns what keeps a directory from having a guest's memory in it.
func usable(dir string, memory int64) error {
	if strings.ContainsAny(dir, " \t\n\"',=") {
		return fmt.Errorf("its name has a character that a kernel's command line cannot take")
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return err
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < memory {
		return fmt.Errorf("%d MB free, %d wanted", free>>20, memory>>20)
	}
	file, err := os.Create(filepath.Join(dir, "map"))
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := file.Truncate(4096); err != nil {
		return err
	}
	page, err := unix.Mmap(int(file.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("executable mappings: %w", err)
	}
	return unix.Munmap(page)
}

package guest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A place is where a guest keeps its files: the private directory and its memory.
type place struct {
	dir string
	own *os.File // the root of the memory's own file system; nil: dir
}

// findPlace makes the private directory. TMPDIR, where it is set, is asked to hold
// the memory too.
func findPlace(memory int64) (*place, error) {
	p := &place{}
	wanted := memory
	if os.Getenv("TMPDIR") == "" {
		if own, err := ownMemory(); err == nil {
			if suits(handle(int(own.Fd())), memory) == nil {
				p.own, wanted = own, 0
			} else {
				own.Close()
			}
		}
	}
	var err error
	if p.dir, err = privateDir(wanted); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *place) close() {
	if p.own != nil {
		p.own.Close()
	}
	if p.dir != "" {
		os.RemoveAll(p.dir)
	}
}

// hand gives a command the place, as its working directory and TMPDIR.
func (p *place) hand(cmd *exec.Cmd) {
	memory := p.dir
	if p.own != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, p.own)
		memory = handle(2 + len(cmd.ExtraFiles))
	}
	cmd.Dir = p.dir
	cmd.Env = append(cmd.Env, "TMPDIR="+memory, "HOME="+p.dir)
}

// handle is the name of an open directory.
func handle(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// privateDir makes the private directory where as much memory has room and may be
// mapped executable.
func privateDir(memory int64) (string, error) {
	var reasons []string
	for _, parent := range []string{os.Getenv("TMPDIR"), "/dev/shm", "/tmp", "/var/tmp"} {
		if parent == "" {
			continue
		}
		sweep(parent)
		dir, err := os.MkdirTemp(parent, dirPrefix)
		if err == nil {
			if err = suits(dir, memory); err == nil {
				return dir, nil
			}
			os.RemoveAll(dir)
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", parent, err))
	}
	return "", fmt.Errorf("no directory for the guest's memory: set TMPDIR to one with %d MB free that is not mounted noexec:\n%s", memory>>20, strings.Join(reasons, "\n"))
}

// suits tells what keeps a directory from holding a guest's memory.
func suits(dir string, memory int64) error {
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

//go:build linux

package guest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A scratch is where a guest has its files: the scratch directory and its memory.
type scratch struct {
	dir *ownDir
	own *os.File // the root of the memory's own file system; nil: dir
}

// newScratch makes the scratch directory. TMPDIR, where it is set, comes first, and
// has the memory too; without room there the other scratchParents follow.
func newScratch(memory int64) (*scratch, error) {
	s := &scratch{}
	files := filesRoom()
	wanted := memory + files
	if os.Getenv("TMPDIR") == "" {
		if own, err := ownMemory(); err == nil {
			if usable(fdPath(int(own.Fd())), memory) == nil {
				s.own, wanted = own, files
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

// filesRoom is about what files take in the scratch directory: copies of this program and of
// its libraries, and what the guest is sent.
func filesRoom() int64 {
	const rest = 8 << 20
	program, err := os.Stat("/proc/self/exe")
	if err != nil {
		return rest
	}
	return program.Size() + rest
}

// CheckRoom returns an error, with what to do, if a guest with so much memory has no
// room on this machine.
func CheckRoom(memory int64) error {
	s, err := newScratch(memory)
	if err != nil {
		return err
	}
	defer s.close()
	return s.dir.remove()
}

// explainRoom says of an error that the disk of a scratch directory in parent is full, if it is
// that: several guests may take at once what each has found free.
func explainRoom(parent string, err error) error {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	return fmt.Errorf("no room is left for the guest's files in %s: free some there, or set TMPDIR to another "+
		"directory", parent)
}

func (s *scratch) close() {
	if s.own != nil {
		s.own.Close()
	}
	if s.dir != nil {
		s.dir.close()
	}
}

// configure gives a command the scratch directory, as its working directory, and
// the memory, as TMPDIR.
func (s *scratch) configure(cmd *exec.Cmd) {
	memory := s.dir.path()
	if s.own != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, s.own)
		memory = fdPath(2 + len(cmd.ExtraFiles))
	}
	cmd.Dir = s.dir.path()
	cmd.Env = append(cmd.Env, "TMPDIR="+memory, "HOME="+s.dir.path())
}

// fdPath is the name of an open directory or file.
func fdPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// makeScratchDir makes the scratch directory where as much memory has room and may be
// mapped executable.
func makeScratchDir(memory int64) (*ownDir, error) {
	var reasons []string
	for _, path := range scratchParents() {
		d, err := makeScratchDirIn(path, memory)
		if err == nil {
			return d, nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", path, err))
	}
	return nil, fmt.Errorf("no directory for the guest's memory: set TMPDIR to one with %d MB free that is not "+
		"mounted noexec:\n%s", memory>>20, strings.Join(reasons, "\n"))
}

// makeScratchDirIn makes it there. A relative path counts from where this process
// is: the guest's kernel is elsewhere.
func makeScratchDirIn(path string, memory int64) (*ownDir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	parent, err := openParent(path)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	sweep(parent)
	d, err := makeOwnDir(parent)
	if err != nil {
		return nil, err
	}
	if err := usable(d.path(), memory); err != nil {
		err = errors.Join(err, d.remove())
		d.close()
		return nil, err
	}
	return d, nil
}

// usable returns what keeps a directory from having a guest's memory in it.
func usable(dir string, memory int64) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return err
	}
	free := int64(fs.Bavail) * fs.Bsize
	if fs.Type == unix.TMPFS_MAGIC { // whose size may be more than there is
		free = min(free, availableMemory())
	}
	if free < memory {
		return fmt.Errorf("%d MB free, %d wanted", free>>20, memory>>20)
	}
	file, err := os.OpenFile(filepath.Join(dir, "map"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
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

// availableMemory is what of this machine's memory programs can still have.
func availableMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return math.MaxInt64
	}
	_, line, _ := strings.Cut(string(text), "MemAvailable:")
	var kB int64
	if _, err := fmt.Sscan(line, &kB); err != nil {
		return math.MaxInt64
	}
	return kB << 10
}

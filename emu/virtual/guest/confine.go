//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The guest's kernel is a program of this user's, and what runs in it is root there:
// hostfs's own limit (hostfs= on its command line) does not stop a guest that makes a
// link and mounts what it leads to. So where this machine has Landlock, the process
// itself is kept from everything but what the guest is shown.

// What Landlock of version 1 controls: all that opens, makes or removes a file; and
// since versions 2 and 3 moves to other directories, and truncation.
const (
	accessRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	access1    = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
	access2    = access1 | unix.LANDLOCK_ACCESS_FS_REFER
	access3    = access2 | unix.LANDLOCK_ACCESS_FS_TRUNCATE

	accessExecute = unix.LANDLOCK_ACCESS_FS_EXECUTE | accessRead
)

// machineFiles are the machine's files that a program may need, as far as they are there:
// libraries, other programs, what the kernel says of processes, and /dev/null.
var machineFiles = []struct {
	path   string
	access uint64
}{
	{"/usr", accessExecute}, {"/bin", accessExecute}, {"/lib", accessExecute}, {"/lib64", accessExecute},
	{"/nix/store", accessExecute}, {"/gnu/store", accessExecute},
	{"/etc/ld.so.cache", unix.LANDLOCK_ACCESS_FS_READ_FILE}, {"/proc", accessRead},
	{"/dev/null", unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
}

// confinement returns what keeps a thread, and what it starts from then on, to the
// guest's files. Where Landlock is missing it does nothing.
func confinement(c *Config, s *scratch, kernel *os.File) func() error {
	if slices.Contains(c.Show, "/") {
		return func() error { return nil }
	}
	return func() error {
		access := landlockAccess()
		if access == 0 {
			return nil
		}
		rules, err := newRuleset(access)
		if err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
		defer unix.Close(rules)
		err = errors.Join(allow(rules, kernel, accessExecute&^unix.LANDLOCK_ACCESS_FS_READ_DIR),
			allow(rules, s.dir.file, access))
		if s.own != nil {
			err = errors.Join(err, allow(rules, s.own, access))
		}
		for _, path := range c.Show {
			err = errors.Join(err, allowPath(rules, path, access))
		}
		for _, f := range machineFiles {
			if e := allowPath(rules, f.path, f.access); !errors.Is(e, unix.ENOENT) {
				err = errors.Join(err, e)
			}
		}
		if err == nil {
			err = restrict(rules)
		}
		if err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
		return nil
	}
}

// ProbeConfinement returns what keeps this machine from confining a guest's kernel.
func ProbeConfinement() error {
	if landlockAccess() == 0 {
		return errors.New("this kernel has no Landlock")
	}
	return nil
}

// landlockAccess is what this machine can control, 0 where it has no Landlock.
func landlockAccess() uint64 {
	version, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case e != 0:
		return 0
	case version == 1:
		return access1
	case version == 2:
		return access2
	}
	return access3
}

func newRuleset(access uint64) (fd int, err error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: access}
	// Of the first version of the structure, which all know.
	r, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)),
		unsafe.Sizeof(attr.Handled_access_fs), 0)
	if e != 0 {
		return -1, e
	}
	return int(r), nil
}

// allow allows access to a file, or to all that is beneath a directory.
func allow(rules int, file *os.File, access uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(file.Fd())}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("%s: %w", file.Name(), e)
	}
	return nil
}

func allowPath(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	return allow(rules, file, access)
}

// restrict puts the calling thread under the rules, for good.
func restrict(rules int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); e != 0 {
		return e
	}
	return nil
}

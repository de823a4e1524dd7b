//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// What the guest's processes see. The kernel's first root is the scratch directory,
// with Init; their root is an empty file system with the directories to show at
// their own names, or the machine's, if that is to be shown.

// boundDir is the scratch directory in the guest.
const boundDir = "/run/guest"

// devices are those that programs expect.
var devices = []struct {
	name         string
	major, minor uint32
}{{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}}

// hostFiles are file systems of the machine's that the guest has mounted.
var hostFiles []int

// enterRoot makes the root and goes there. Nothing of it is seen outside.
func enterRoot(show, libraries []string) error {
	const root = "/" + rootDir
	all := slices.Index(show, "/")
	if all >= 0 {
		if err := mountHost(all, root); err != nil {
			return err
		}
	} else if err := mount("tmpfs", root, ""); err != nil {
		return err
	}
	for _, m := range []struct{ kind, at string }{{"proc", "/proc"}, {"sysfs", "/sys"}, {"tmpfs", "/run"}} {
		if err := os.MkdirAll(root+m.at, 0o755); err != nil {
			return fmt.Errorf("guest: %w", err)
		}
		if err := mount(m.kind, root+m.at, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			return err
		}
	}
	// Before directories are shown, one of which may have the console's name.
	if err := openConsole(root + "/run"); err != nil {
		return fmt.Errorf("guest: console: %w", err)
	}
	for _, dir := range []string{root + boundDir, root + "/run/tmp"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("guest: %w", err)
		}
	}
	if err := unix.Mount("/", root+boundDir, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("guest: bind the scratch directory: %w", err)
	}
	if all < 0 {
		// The machine's /dev would serve too: its nodes stand for the guest's devices.
		if err := makeDevices(root + "/dev"); err != nil {
			return fmt.Errorf("guest: devices: %w", err)
		}
		if err := bindLibraries(root, libraries); err != nil {
			return fmt.Errorf("guest: libraries: %w", err)
		}
		for i, dir := range show {
			if err := os.MkdirAll(root+dir, 0o755); err != nil {
				return fmt.Errorf("guest: %w", err)
			}
			if err := mountHost(i, root+dir); err != nil {
				return err
			}
		}
	}
	if err := os.Chdir(root); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("guest: change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("guest: leave the first root: %w", err)
	}
	return os.Chdir("/")
}

func makeDevices(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, d := range devices {
		path := filepath.Join(dir, d.name)
		err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(d.major, d.minor)))
		if err != nil {
			return err
		}
	}
	return nil
}

// mountHost mounts directory i of those to show.
func mountHost(i int, at string) error {
	if err := mount("hostfs", at, shown(i)); err != nil {
		return err
	}
	return keepHost(at)
}

// keepHost has settleFiles see to the file system of a path.
func keepHost(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("guest: %s: %w", path, err)
	}
	hostFiles = append(hostFiles, fd)
	return nil
}

func mount(kind, at, options string) error {
	if err := unix.Mount(kind, at, kind, 0, options); err != nil {
		return fmt.Errorf("guest: mount %s at %s: %w", kind, at, err)
	}
	return nil
}

// settleFiles sees to it that what was written is on the machine's disk. Its
// error is about what has not got there since the guest began.
func settleFiles() error {
	unix.Sync()
	for _, fd := range hostFiles {
		if err := unix.Syncfs(fd); err != nil {
			return fmt.Errorf("guest: what was written did not all get to the machine's disk: %w", err)
		}
	}
	return nil
}

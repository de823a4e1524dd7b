//go:build linux

package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// tools are the programs that a build takes, and the Debian packages they are
// in.
var tools = []struct{ program, pkg string }{
	{"tar", "tar"}, {"xz", "xz-utils"}, {"patch", "patch"}, {"make", "make"}, {"gcc", "gcc"},
	{"flex", "flex"}, {"bison", "bison"}, {"bc", "bc"},
}

// diskNeeded is what a build takes in the cache while it runs, in bytes: the
// unpacked source is 0.5 GB, its objects 0.2 GB.
const diskNeeded = 1 << 30

// Needs lists what Build needs, for people.
func Needs() string {
	var names []string
	for _, t := range tools {
		names = append(names, t.program)
	}
	return fmt.Sprintf("%s, the headers of the C library, the source of Linux %s, and %.0f GB in the cache directory "+
		"while it runs",
		strings.Join(names, ", "), Version, float64(diskNeeded)/(1<<30))
}

// check returns everything that is missing at once.
func (c Cache) check() error {
	var missing, packages []string
	for _, t := range tools {
		if _, err := exec.LookPath(t.program); err != nil {
			missing, packages = append(missing, t.program), append(packages, t.pkg)
		}
	}
	if _, err := os.Stat("/usr/include/stdio.h"); err != nil {
		missing, packages = append(missing, "/usr/include/stdio.h"), append(packages, "libc6-dev")
	}
	if len(missing) > 0 {
		return fmt.Errorf("building the kernel takes %s: install what is missing, on Debian with\n  apt-get install %s",
			strings.Join(missing, ", "), strings.Join(packages, " "))
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(string(c), &fs); err == nil && int64(fs.Bavail)*fs.Bsize < diskNeeded && !c.Unfinished() {
		return fmt.Errorf(
			"building the kernel takes %d MB in %s, and %d are free: free some, or set XDG_CACHE_HOME to a "+
				"directory on another disk", diskNeeded>>20, c, int64(fs.Bavail)*fs.Bsize>>20)
	}
	return nil
}

// FindSource returns the tarball of Linux's source: the one named, or what the
// distribution's package has put in place.
func FindSource(named string) (string, error) {
	if named != "" {
		info, err := os.Stat(named)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no file: name a tarball (kernel.org has linux-%s.y)", named, Version)
		}
		if err != nil {
			return "", fmt.Errorf("the kernel's source: %w", err)
		}
		return filepath.Abs(named)
	}
	path := fmt.Sprintf("/usr/src/linux-source-%s.tar.xz", Version)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not there: install Debian's package of it, with\n"+
			"  apt-get install linux-source-%s\n"+
			"or name a tarball of Linux %s with --source (kernel.org has linux-%s.y)",
			path, Version, Version, Version)
	}
	return path, nil
}

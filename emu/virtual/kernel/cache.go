//go:build linux

// Package kernel builds the virtual engine's guest kernel out of a Linux source
// tarball, and keeps it in the user's cache:
//
//	~/.cache/sirdbed/kernel/
//	  6.12.117-0123456789ab/   Linux's version, the hash of what the project adds
//	    linux                  the kernel, an ordinary program
//	    kernel.json            Built
//	  build/                   a build under way, or one that was interrupted
//	  build.log                what tar, patch and make wrote
package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/atomicfile"
	"sirdbed/emu/rights"
	"sirdbed/topo/regular"
)

// Built is a kernel in the cache.
type Built struct {
	Version string    `json:"version"` // of Linux
	Hash    string    `json:"hash"`    // of configuration and patch
	Source  string    `json:"source"`  // the tarball
	Size    int64     `json:"source_size"`
	Changed time.Time `json:"source_changed"`
	When    time.Time `json:"built"`
	Seconds float64   `json:"build_seconds"`

	Path     string `json:"-"` // the kernel itself
	Current  bool   `json:"-"` // of this program's configuration and patch
	Variable string `json:"-"` // of the environment, which names it in place of the cache's
}

// A Cache is where kernels are kept.
type Cache string

// UserCache is the user's own.
func UserCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory for the guest's kernel: %w: set XDG_CACHE_HOME to one", err)
	}
	return CacheIn(dir), nil
}

// CacheIn is that of a user whose cache directory is dir.
func CacheIn(dir string) Cache { return Cache(filepath.Join(dir, "sirdbed", "kernel")) }

// ErrNotBuilt is wrapped by the error of Find when there is no kernel.
var ErrNotBuilt = errors.New("the virtual engine has no kernel yet")

// Find returns the kernel to use: the latest of this program's configuration.
func (c Cache) Find() (Built, error) {
	list, err := c.List()
	if err != nil {
		return Built{}, err
	}
	var best Built
	for _, b := range list {
		if b.Current && b.When.After(best.When) {
			best = b
		}
	}
	if best.Path == "" {
		why := ""
		if len(list) > 0 {
			why = ": the one in the cache is of another version of sirdbed"
		}
		return best, fmt.Errorf("%w in %s%s: build it with \"sirdbed kernel build\", 3 to 6 minutes", ErrNotBuilt, c,
			why)
	}
	return best, nil
}

// List returns all kernels in the cache that are whole.
func (c Cache) List() (list []Built, err error) {
	records, err := c.files("kernel.json")
	if err != nil {
		return nil, err
	}
	for _, path := range records {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		b := Built{Path: filepath.Join(filepath.Dir(path), "linux")}
		if json.Unmarshal(text, &b) != nil {
			continue // cut off with the machine: as good as not there
		}
		b.Current = current(b.Hash)
		if _, err := os.Stat(b.Path); err == nil {
			list = append(list, b)
		}
	}
	return list, nil
}

// files lists the files of a name in the cache's directories.
func (c Cache) files(name string) (paths []string, err error) {
	entries, err := os.ReadDir(string(c))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(string(c), e.Name(), name)
		if _, err := os.Lstat(path); err == nil {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Unfinished reports whether a build was interrupted.
func (c Cache) Unfinished() bool {
	_, err := os.Stat(c.tree())
	return err == nil
}

// Remove deletes all kernels and what is left of builds, unless a run uses one.
// It reports whether there was anything.
func (c Cache) Remove() (something bool, err error) {
	if _, err := os.Lstat(string(c)); os.IsNotExist(err) {
		return false, nil
	}
	unlock, err := c.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	kernels, err := c.files("linux")
	if err != nil {
		return false, err
	}
	for _, path := range kernels {
		unused, err := claim(path)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, fmt.Errorf("a run uses %s: wait for its end", path)
		} else if err != nil {
			return false, err
		}
		defer unused()
	}
	err = os.RemoveAll(string(c))
	_ = os.Remove(filepath.Dir(string(c))) // if it is empty
	return true, err
}

// Trusted returns why root must not execute the kernel, see rights.Trusted.
func (b Built) Trusted() error {
	if b.Variable == "" {
		return trusted(b.Path, mendCache)
	}
	return trusted(b.Path, "give it to root alone (chown root, chmod go-w), or run as the user whose it is")
}

// Open opens the kernel to execute it by its descriptor, unless it is not to be
// trusted, or no program of this machine. While it is open it is not removed.
func (b Built) Open() (*os.File, error) {
	file, err := regular.Open(b.Path)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(b.Trusted(), executable(file)); err == nil {
		err = b.check(file)
	}
	if err == nil {
		err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// check returns why an open kernel is no program of this machine.
func (b Built) check(file *os.File) error {
	err := program(file)
	if err != nil && b.Variable == "" {
		err = fmt.Errorf("%w: remove it and build it again (sirdbed kernel remove, sirdbed kernel build)", err)
	}
	return err
}

// executable returns an error for a file that nobody may execute.
func executable(file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Mode()&0o111 == 0 {
		err = fmt.Errorf("%s is not executable: chmod +x it", file.Name())
	}
	return err
}

// mendCache is what to do about a cache that is not root's alone.
const mendCache = "run it as that user, or set XDG_CACHE_HOME to a directory of root's and build the kernel there " +
	"(sirdbed kernel build)"

// trusted returns why root must not execute what is at a path, or build it there, and
// how to mend that.
func trusted(path, mend string) error {
	if err := rights.Trusted(path); err != nil {
		return fmt.Errorf("%w: as root sirdbed executes only what root alone can change: %s", err, mend)
	}
	return nil
}

// claim locks a kernel for this process alone, without waiting, until unlock is called.
func claim(path string) (unlock func(), err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}

func (c Cache) tree() string { return filepath.Join(string(c), "build") }

// Log is the path of what the last build's tools wrote.
func (c Cache) Log() string { return filepath.Join(string(c), "build.log") }

// hash names what the project adds to Linux, comments aside: a kernel stays
// current when they are reworded.
func hash() string {
	h := sha256.New()
	h.Write(options(Config))
	h.Write([]byte{0})
	h.Write(diffs(Patch))
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// current reports whether a kernel with the given hash is of this program's
// configuration and patch.
func current(name string) bool { return name == hash() }

// options returns the lines of a configuration that Kconfig reads; "# CONFIG_X is
// not set" is one of them.
func options(config []byte) (list []byte) {
	for line := range bytes.Lines(config) {
		comment := bytes.HasPrefix(line, []byte("#")) && !bytes.HasPrefix(line, []byte("# CONFIG_"))
		if !comment && len(bytes.TrimSpace(line)) > 0 {
			list = append(list, line...)
		}
	}
	return list
}

// diffs returns the part of a patch that patch(1) applies: from the first file's
// header on.
func diffs(patch []byte) []byte {
	rest := patch
	for line := range bytes.Lines(patch) {
		if bytes.HasPrefix(line, []byte("--- ")) || bytes.HasPrefix(line, []byte("diff ")) {
			return rest
		}
		rest = rest[len(line):]
	}
	return patch
}

// keep puts a built kernel into the cache, whole or not at all.
func (c Cache) keep(b Built, from string) (Built, error) {
	dir := filepath.Join(string(c), b.Version+"-"+b.Hash)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return b, err
	}
	b.Path, b.Current = filepath.Join(dir, "linux"), true
	if err := os.Rename(from, b.Path); err != nil {
		return b, err
	}
	return b, atomicfile.JSON(filepath.Join(dir, "kernel.json"), b)
}

// String describes a kernel in a line.
func (b Built) String() string {
	return fmt.Sprintf("Linux %s (%s), built %s in %.0f s from %s", b.Version, b.Hash,
		b.When.Format("2006-01-02 15:04"), b.Seconds, strings.TrimSpace(b.Source))
}

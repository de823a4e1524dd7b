//go:build linux

// Package rights knows what whoever runs sirdbed may do: it makes root the user who called
// sudo, and knows what root may execute.
package rights

import (
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sirdbed/emu/sudo"
)

// A Caller is the user who called sudo.
type Caller struct {
	Name   string
	home   string
	uid    int
	gid    int
	groups []int
}

// SudoCaller returns the user who called sudo, nil where this process is not root, or
// is root in its own right.
func SudoCaller() (*Caller, error) {
	id := sudo.CallerID()
	if id == "" {
		return nil, nil
	}
	c, err := lookUp(id)
	if err != nil {
		return nil, fmt.Errorf("SUDO_UID names no user of this machine (%w): run it without sudo", err)
	}
	return c, nil
}

func lookUp(id string) (*Caller, error) {
	u, err := user.LookupId(id)
	if err != nil {
		return nil, err
	}
	c := &Caller{Name: u.Username, home: u.HomeDir}
	if c.uid, err = strconv.Atoi(u.Uid); err != nil || c.uid <= 0 {
		return nil, fmt.Errorf("user %q", u.Uid)
	}
	if c.gid, err = strconv.Atoi(u.Gid); err != nil {
		return nil, err
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if n, err := strconv.Atoi(g); err == nil {
			c.groups = append(c.groups, n)
		}
	}
	return c, nil
}

// Become makes this process the user's, for good. Start a program then: what this one
// has opened, and what the kernel lets it do to itself, are still root's.
func (c *Caller) Become() error {
	err := errors.Join(syscall.Setgroups(c.groups), syscall.Setresgid(c.gid, c.gid, c.gid),
		syscall.Setresuid(c.uid, c.uid, c.uid))
	if err != nil {
		return fmt.Errorf("becoming user %s: %w: run it as %s, without sudo", c.Name, err, c.Name)
	}
	return nil
}

// Credential is what a process is started with to be the user's.
func (c *Caller) Credential() *syscall.Credential {
	groups := make([]uint32, 0, len(c.groups))
	for _, g := range c.groups {
		groups = append(groups, uint32(g))
	}
	return &syscall.Credential{Uid: uint32(c.uid), Gid: uint32(c.gid), Groups: groups}
}

// Environment returns an environment of root's, as sudo leaves it, as the user's own:
// with the user's home, without sudo's variables, and without the directories for
// which usable returns false.
func (c *Caller) Environment(env []string, usable func(dir string) bool) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "HOME", "USER", "LOGNAME", "USERNAME", "MAIL":
			return true
		case "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR":
			return !usable(value)
		}
		return strings.HasPrefix(name, "SUDO_")
	})
	return append(env, "HOME="+c.home, "USER="+c.Name, "LOGNAME="+c.Name)
}

// Cache returns the user's cache directory.
func (c *Caller) Cache(env []string) string {
	for _, v := range slices.Backward(env) {
		if dir, ok := strings.CutPrefix(v, "XDG_CACHE_HOME="); ok && filepath.IsAbs(dir) {
			return dir
		}
	}
	return filepath.Join(c.home, ".cache")
}

// Writable reports whether this process may make files in a directory, or in the
// first on the way up from it that is there.
func Writable(dir string) bool {
	for {
		err := unix.Access(dir, unix.W_OK|unix.X_OK)
		if err == nil || !errors.Is(err, unix.ENOENT) {
			return err == nil
		}
		dir = filepath.Dir(dir)
	}
}

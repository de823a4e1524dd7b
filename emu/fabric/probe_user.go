//go:build linux

package fabric

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/port"
	"sirdbed/emu/sandbox"
)

// tryUserNamespace starts a child in the namespaces that a sandbox takes
// and lets it execute a file that does not exist: that this is what fails shows
// that everything before worked, and no program has to be at hand.
func tryUserNamespace() error {
	attr := sandbox.Namespaces(true)
	_, err := syscall.ForkExec("/proc/self/no-such-program", []string{"probe"}, &syscall.ProcAttr{Sys: attr})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if errors.Is(err, unix.ENOSPC) { // not the disk's: see namespaces(7)
		err = errors.New("the limit is reached")
	}
	return &port.NotSupportedError{Feature: FeatureUserNS, Option: userNamespaceObstacle(),
		Err: fmt.Errorf("clone: %w", err)}
}

// userNamespaceObstacle names what forbids user namespaces to ordinary programs
// and how to allow them.
func userNamespaceObstacle() string {
	for _, o := range []struct{ path, bad, what string }{
		{"kernel/unprivileged_userns_clone", "0", "permission: sysctl -w kernel.unprivileged_userns_clone=1"},
		{"kernel/apparmor_restrict_unprivileged_userns", "1",
			"AppArmor's permission: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or a profile for " +
				"sirdbed with the rule userns"},
		{"user/max_user_namespaces", "0", "permission: sysctl -w user.max_user_namespaces=10000"},
		{"user/max_net_namespaces", "0", "permission: sysctl -w user.max_net_namespaces=10000"},
	} {
		b, err := os.ReadFile("/proc/sys/" + o.path)
		if err == nil && strings.TrimSpace(string(b)) == o.bad {
			return o.what
		}
	}
	return "CONFIG_USER_NS, or permission (a container's seccomp profile may forbid it: run it with --privileged, or " +
		"run sirdbed as root)"
}

//go:build linux

// Package rights knows who runs sirdbed: root, an ordinary user, or root on behalf of
// the user who called sudo; and what root may execute.
package rights

import (
	"os"
	"strings"
)

// Root reports whether this process is the machine's root, and not that of a user
// namespace, who is an ordinary user outside.
func Root() bool { return os.Geteuid() == 0 && !inUserNamespace() }

func inUserNamespace() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295"
}

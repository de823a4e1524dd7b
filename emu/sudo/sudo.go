// Package sudo knows on whose behalf root runs sirdbed: its own, or that of the user who
// called sudo. It is apart from package rights because results need it, which may not
// reach Linux's system calls.
package sudo

import (
	"os"
	"strconv"
	"strings"
)

// Root reports whether this process is the machine's root, and not that of a user
// namespace, who is an ordinary user outside.
func Root() bool { return os.Geteuid() == 0 && !inUserNamespace() }

func inUserNamespace() bool {
	text, err := os.ReadFile("/proc/self/uid_map") // only Linux has it
	return err == nil && strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295"
}

// CallerID returns the id of the user who called sudo as sudo gives it, "" where this
// process is not root, or is root in its own right.
func CallerID() string {
	id := os.Getenv("SUDO_UID")
	if id == "0" || !Root() {
		return ""
	}
	return id
}

// CallerIDs returns the ids of the user who called sudo, if one did. To give that user
// a file, no more is needed: the user may be unknown to this machine.
func CallerIDs() (uid, gid int, ok bool) {
	uid, err1 := strconv.Atoi(CallerID())
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, err1 == nil && err2 == nil && uid > 0
}

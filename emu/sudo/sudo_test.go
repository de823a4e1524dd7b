package sudo

import (
	"strconv"
	"testing"
)

// Whom root gives files to need not be known here.
func TestCallerIDs(t *testing.T) {
	for _, c := range []struct {
		uid, gid string
		want     bool // if root asks
	}{
		{"1000", "100", true}, {"4000000000", "0", true}, {"0", "0", false}, {"", "", false}, {"-1", "100", false},
		{"x", "100", false}, {"1000", "", false},
	} {
		t.Setenv("SUDO_UID", c.uid)
		t.Setenv("SUDO_GID", c.gid)
		uid, gid, ok := CallerIDs()
		if ok != (c.want && Root()) || ok && (strconv.Itoa(uid) != c.uid || strconv.Itoa(gid) != c.gid) {
			t.Errorf("SUDO_UID=%s SUDO_GID=%s: got %d, %d, %v", c.uid, c.gid, uid, gid, ok)
		}
	}
}

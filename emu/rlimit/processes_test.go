//go:build linux

package rlimit

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestLimitsOfCgroups(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string // below /sys/fs/cgroup, but for the cgroup of the process
		left  uint64
		group string // "": no limit
	}{
		{"of version 2", map[string]string{"self": "0::/a/b\n",
			"a/b/pids.max": "50\n", "a/b/pids.current": "8\n"}, 42, "/a/b"},
		{"of one above", map[string]string{"self": "0::/a/b\n", "a/b/pids.max": "50\n", "a/b/pids.current": "8\n",
			"a/pids.max": "60\n", "a/pids.current": "58\n"}, 2, "/a"},
		{"of version 1", map[string]string{"self": "9:cpu:/\n8:pids:/a\n0::/\n",
			"pids/a/pids.max": "10\n", "pids/a/pids.current": "12\n"}, 0, "/a"},
		{"of a container", map[string]string{"self": "0::/\n", "pids.max": "100\n", "pids.current": "1\n"}, 99, "/"},
		{"no limit", map[string]string{"self": "0::/a\n", "a/pids.max": "max\n", "a/pids.current": "8\n"}, 0, ""},
		{"none to be read", map[string]string{"self": "0::/../../a\nx\n"}, 0, ""},
		{"no cgroups", nil, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			machine := fstest.MapFS{}
			for name, text := range c.files {
				path := "sys/fs/cgroup/" + name
				if name == "self" {
					path = "proc/self/cgroup"
				}
				machine[path] = &fstest.MapFile{Data: []byte(text)}
			}
			left, group, ok := leftInGroup(machine)
			if left != c.left || group != c.group || ok != (c.group != "") {
				t.Errorf("got %d in %q, %v, want %d in %q", left, group, ok, c.left, c.group)
			}
		})
	}
}

func TestThreadsAreCounted(t *testing.T) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
	}
	if got := threadsOf(os.DirFS("/"), os.Getuid()); got < uint64(len(threads)) {
		t.Errorf("got %d, and this process alone has %d", got, len(threads))
	}
	if got := threadsOf(os.DirFS("/"), 1<<30); got != 0 {
		t.Errorf("nobody has %d", got)
	}
}

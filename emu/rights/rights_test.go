//go:build linux

package rights

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sirdbed/emu/sudo"
)

const stranger = 12345

// Root executes what root alone can change, on all the way there.
func TestTrusted(t *testing.T) {
	if !sudo.Root() {
		t.Skip("only root gives files away")
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dir string) // dir has a/b/program
		path  string
		want  string // "" for none
	}{
		{"root's", nil, "a/b/program", ""},
		{"not there yet", nil, "a/new/program", ""},
		{"below a file", nil, "a/b/program/x", ""},
		{"another's", owner("a/b/program"), "a/b/program", "program belongs to user 12345"},
		{"for others to write", mode("a/b/program", 0o775), "a/b/program",
			"program may be written by others (mode 0775)"},
		{"in another's directory", owner("a"), "a/b/program", "a belongs to user 12345"},
		{"in a directory for others", mode("a/b", 0o777), "a/b/program", "b may be written by others"},
		{"in one like /tmp", mode("a/b", os.ModeSticky|0o777), "a/b/program", ""},
		{"by a link of root's", link("b", "link", false), "a/link/program", ""},
		{"by an absolute link", link("ABS/a/b", "link", false), "a/link/program", ""},
		{"by another's link", link("b", "link", true), "a/link/program", "link belongs to user 12345"},
		{"by a link to another's", func(t *testing.T, dir string) {
			link("ABS/a/b", "link", false)(t, dir)
			owner("a/b")(t, dir)
		}, "a/link/program", "b belongs to user 12345"},
		{"by a link out of another's", func(t *testing.T, dir string) {
			link("../..", "link", false)(t, dir)
			owner("a")(t, dir)
		}, "a/link", "a belongs to user 12345"},
		{"in circles", link("link", "link", false), "a/link", "too many links"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err == nil {
				err = os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "a", "b", "program"), nil, 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				c.spoil(t, dir)
			}
			err = Trusted(filepath.Join(dir, c.path))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q (none if empty)", err, c.want)
			}
		})
	}
}

func owner(path string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.Chown(filepath.Join(dir, path), stranger, stranger); err != nil {
			t.Fatal(err)
		}
	}
}

func mode(path string, m os.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.Chmod(filepath.Join(dir, path), m); err != nil {
			t.Fatal(err)
		}
	}
}

// link makes a link in a.
func link(target, name string, strangers bool) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, "a", name)
		if err := os.Symlink(strings.ReplaceAll(target, "ABS", dir), path); err != nil {
			t.Fatal(err)
		}
		if strangers {
			if err := os.Lchown(path, stranger, stranger); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Who called sudo is known where root was called; root in its own right is root.
func TestSudoCaller(t *testing.T) {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ id, want, err string }{
		{"", "", ""}, {"0", "", ""}, {nobody.Uid, "nobody", ""}, {"4000000000", "", "without sudo"},
		{"x", "", "without sudo"}, {"-1", "", "without sudo"},
	} {
		t.Run("SUDO_UID="+c.id, func(t *testing.T) {
			t.Setenv("SUDO_UID", c.id)
			caller, err := SudoCaller()
			if !sudo.Root() {
				c.want, c.err = "", ""
			}
			name := ""
			if caller != nil {
				name = caller.Name
			}
			if name != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %q, %v; want %q, %q", name, err, c.want, c.err)
			}
		})
	}
}

// The environment that sudo leaves becomes the user's own.
func TestEnvironmentOfTheCaller(t *testing.T) {
	c := &Caller{Name: "ann", home: "/home/ann"}
	got := c.Environment([]string{"HOME=/root", "USER=root", "LOGNAME=root", "MAIL=/var/mail/root", "SUDO_UID=1000",
		"SUDO_COMMAND=x", "PATH=/bin", "TMPDIR=/roots", "XDG_CACHE_HOME=/anns", "XDG_RUNTIME_DIR=/run/user/0"},
		func(dir string) bool { return dir == "/anns" })
	want := []string{"PATH=/bin", "XDG_CACHE_HOME=/anns", "HOME=/home/ann", "USER=ann", "LOGNAME=ann"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if cache := c.Cache(got); cache != "/anns" {
		t.Errorf("its cache is %s, want /anns", cache)
	}
	if cache := c.Cache(nil); cache != "/home/ann/.cache" {
		t.Errorf("its cache is %s, want that in its home", cache)
	}
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		dir: true, filepath.Join(dir, "new", "newer"): true, filepath.Join(file, "new"): false,
		"/proc/" + strconv.Itoa(os.Getpid()) + "/new/newer": false,
	} {
		if got := Writable(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

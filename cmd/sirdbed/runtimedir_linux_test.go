//go:build !portable

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What somebody else has made under the name of the runtime directory is not used:
// nothing is written there, and commands say what is wrong and what to do.
func TestForeignRuntimeDirectory(t *testing.T) {
	for _, c := range []struct {
		name, want string
		make       func(t *testing.T, path, elsewhere string) error
	}{
		{"link", "it is a link: have it removed, or set XDG_RUNTIME_DIR",
			func(t *testing.T, path, elsewhere string) error { return os.Symlink(elsewhere, path) }},
		{"pipe", "it is not a directory: have it removed", func(t *testing.T, path, _ string) error {
			return unix.Mkfifo(path, 0o666)
		}},
		{"open to all", "others may use it (mode 777): chmod 700 ", func(t *testing.T, path, _ string) error {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Chmod(path, 0o777)
		}},
		{"another user's", "it belongs to another user: have it removed", func(t *testing.T, path, _ string) error {
			if os.Getuid() != 0 {
				t.Skip("only root can make one")
			}
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Chown(path, 12345, 12345)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			path, elsewhere := filepath.Join(top, "runtime"), filepath.Join(top, "elsewhere")
			t.Setenv(runtimeDirVar, path)
			if err := os.Mkdir(elsewhere, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.make(t, path, elsewhere); err != nil {
				t.Fatal(err)
			}
			want := "runtime directory " + path + ": " + c.want
			if _, err := publishState(State{Run: "out-sird"}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a state is published there: %v, want %q", err, want)
			}
			for _, command := range [][]string{{"clean"}, {"exec", "h1-1"}} {
				var stderr bytes.Buffer
				code := execute(t.Context(), command, io.Discard, &stderr)
				if code != exitFailed || !strings.Contains(stderr.String(), want) {
					t.Errorf("%s: exit code %d, %q, want %q", command[0], code, stderr.String(), want)
				}
			}
			if got := namesIn(t, elsewhere); got != "" {
				t.Errorf("elsewhere there is %s", got)
			}
		})
	}
}

// What is no state in the runtime directory is named and left alone; nothing waits
// for a pipe, follows a link out, or writes over what is there.
func TestStrangeFilesAmongStates(t *testing.T) {
	top := t.TempDir()
	t.Setenv(runtimeDirVar, filepath.Join(top, "runtime"))
	victim := filepath.Join(top, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	published(t, State{Run: "lives"})
	at := func(name string) string { return filepath.Join(runtimeDir(), name) }
	for _, err := range []error{
		unix.Mkfifo(at("pipe.json"), 0o600), os.Symlink(victim, at("out-sird.json")), os.Mkdir(at("dir.json"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	published(t, State{Run: "out-sird"})
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
		t.Errorf("the file that the link names has %q now (%v)", text, err)
	}
	ended := make(chan string, 1)
	go func() {
		var stdout, stderr bytes.Buffer
		execute(t.Context(), []string{"clean"}, &stdout, &stderr)
		ended <- stdout.String() + stderr.String()
	}()
	select {
	case got := <-ended:
		for _, want := range []string{
			`"pipe.json"`, `"out-sird.json"`, `"dir.json"`, "running: lives ", "running: out-sird-2 ",
		} {
			if strings.Count(got, want) != 1 {
				t.Errorf("clean does not say %s once:\n%s", want, got)
			}
		}
	case <-time.After(10 * time.Second):
		t.Fatal("clean waits")
	}
	const all = "dir.json lives.json out-sird-2.json out-sird.json pipe.json"
	if got := namesIn(t, runtimeDir()); got != all {
		t.Errorf("in the runtime directory are now %s, want %s", got, all)
	}
}

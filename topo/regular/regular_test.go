//go:build unix

package regular

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is no regular file is told apart and not opened; nothing waits. Links are
// followed only for who has named a file.
func TestOpen(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	at := func(name string) string { return filepath.Join(dir.Name(), name) }
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := errors.Join(
		os.WriteFile(at("file"), []byte("text"), 0o600), os.Mkdir(at("dir"), 0o700),
		syscall.Mkfifo(at("pipe"), 0o600),
		os.Symlink("file", at("link")), os.Symlink("pipe", at("to-pipe")), os.Symlink("/dev/zero", at("endless")),
	); err != nil {
		t.Fatal(err)
	}
	const link = "a link: remove it, want a regular file"
	for _, c := range []struct{ name, open, openIn string }{ // "" for none
		{"file", "", ""}, {"link", "", link}, {"to-pipe", "a pipe: want", link}, {"endless", "a device: want", link},
		{"pipe", "a pipe: want", "a pipe: remove it"}, {"dir", "a directory: want", "a directory: remove"},
		{"socket", "a socket: want", "a socket: remove it"}, {"none", "no such file", "no such file"},
	} {
		for _, o := range []struct {
			name string
			open func() (*os.File, error)
			want string
		}{
			{"Open", func() (*os.File, error) { return Open(at(c.name)) }, c.open},
			{"OpenIn", func() (*os.File, error) { return OpenIn(dir, c.name, os.O_RDWR) }, c.openIn},
		} {
			t.Run(o.name+" "+c.name, func(t *testing.T) {
				done := make(chan error, 1)
				go func() {
					file, err := o.open()
					file.Close()
					done <- err
				}()
				select {
				case err := <-done:
					if (err == nil) != (o.want == "") || err != nil && !strings.Contains(err.Error(), o.want) {
						t.Errorf("got %v, want %q (none if empty)", err, o.want)
					}
				case <-time.After(10 * time.Second):
					t.Fatal("it waits")
				}
			})
		}
	}
}

// A file that is replaced between the look and the opening is not opened.
func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := open("open", path, "", func() (os.FileInfo, error) {
		info, err := os.Stat(path)
		return info, errors.Join(err, os.Rename(path, path+".away"), os.WriteFile(path, nil, 0o600))
	}, func() (*os.File, error) { return os.Open(path) })
	if err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("got %v, want that it was replaced", err)
	}
}

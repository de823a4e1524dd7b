package atomicfile

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreWholeOrNotThere(t *testing.T) {
	failure := errors.New("a failure")
	half := func(file *os.File) error {
		file.WriteString("half")
		return failure
	}
	whole := func(file *os.File) error {
		_, err := file.WriteString("whole")
		return err
	}
	for _, c := range []struct {
		name  string
		steps []func(*os.File) error
		want  string // "" for no file
	}{
		{"written", []func(*os.File) error{whole}, "whole"},
		{"failed", []func(*os.File) error{half}, ""},
		{"failed over an older one", []func(*os.File) error{whole, half}, "whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			for _, step := range c.steps {
				if err := Write(path, step); err != nil && err != failure {
					t.Fatal(err)
				}
			}
			text, _ := os.ReadFile(path)
			if string(text) != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
			left, _ := os.ReadDir(dir)
			if (c.want == "") != (len(left) == 0) || len(left) > 1 {
				t.Errorf("in its directory: %v", left)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "value.json")
	if err := JSON(path, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "{\n  \"a\": 1\n}\n" {
		t.Errorf("got %q", text)
	}
	if err := JSON(path, math.NaN()); err == nil {
		t.Error("NaN was written")
	}
	if err := JSON(filepath.Join(t.TempDir(), "none", "value.json"), 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a directory: %v, want that it does not exist", err)
	}
}

func TestLinksAreReplaced(t *testing.T) {
	for _, name := range []string{"file", "file.part"} {
		dir := t.TempDir()
		path, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
		if err := os.WriteFile(other, []byte("another's"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		if err := JSON(path, 1); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(other); string(text) != "another's" {
			t.Errorf("with a link at %s: what it leads to is now %q", name, text)
		}
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			t.Errorf("with a link at %s: %v, %v, want a regular file", name, info, err)
		}
	}
}

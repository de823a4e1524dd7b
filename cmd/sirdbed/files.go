package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// resultFiles are the files that a command writes for CI systems, beside what it
// prints. An empty name is no file.
type resultFiles struct{ junit, markdown string }

// flags declares the files' flags.
func (f *resultFiles) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.junit, "junit", "", "write bounds and checks as test cases to a JUnit `FILE`")
	flags.StringVar(&f.markdown, "markdown", "", "write a summary in Markdown to `FILE`, such as $GITHUB_STEP_SUMMARY")
}

// check reports, before anything is run, a file that could not be written.
func (f resultFiles) check() error {
	for _, x := range []struct{ flag, path string }{{"--junit", f.junit}, {"--markdown", f.markdown}} {
		if x.path == "" {
			continue
		}
		dir := filepath.Dir(x.path)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return badInput(fmt.Errorf("%s %s: there is no directory %s", x.flag, x.path, dir))
		}
		if info, err := os.Stat(x.path); err == nil && info.IsDir() {
			return badInput(fmt.Errorf("%s %s: it is a directory", x.flag, x.path))
		}
	}
	return nil
}

// write writes the files that were asked for.
func (f resultFiles) write(of interface {
	JUnit(io.Writer) error
	Markdown(io.Writer) error
}) error {
	return errors.Join(writeTo(f.junit, of.JUnit), writeTo(f.markdown, of.Markdown))
}

// writeTo writes a file in place, since it may be a device: /dev/stdout.
func writeTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		giveBack(path)
	}
	return errors.Join(err, write(file), file.Close())
}

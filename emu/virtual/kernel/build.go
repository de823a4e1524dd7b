package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	files "sirdbed/scripts/kernel"
)

// Options say how to build. The zero value builds from the distribution's
// source.
type Options struct {
	Source string // a tarball; "" is the distribution's
	Force  bool   // build even what is in the cache
	// Step, when set, is told what is done now.
	Step func(text string)
	// Compiled, when set, is told how many files have been compiled, of about how
	// many.
	Compiled func(n, of int)
	// Verify tries the kernel before it is put into the cache.
	Verify func(path string) error
}

// expectedFiles is how many lines make prints for the project's configuration.
const expectedFiles = 1210

// Build builds the guest's kernel and puts it into the cache. A build that was
// interrupted goes on where it was. fresh is false when there was nothing to do.
func (c Cache) Build(ctx context.Context, o Options) (b Built, fresh bool, err error) {
	source, err := FindSource(o.Source)
	if err != nil {
		return b, false, err
	}
	info, err := os.Stat(source)
	if err != nil {
		return b, false, err
	}
	unlock, err := c.lock()
	if err != nil {
		return b, false, err
	}
	defer unlock()
	if b, err = c.Find(); err == nil && !o.Force && b.Source == source && b.Size == info.Size() && b.Changed.Equal(info.ModTime()) {
		return b, false, nil
	}
	if err := c.check(); err != nil {
		return b, false, err
	}
	started := time.Now()
	w := &work{cache: c, options: o, source: source}
	if err := w.run(ctx); err != nil {
		return b, false, err
	}
	b = Built{
		Version: w.version, Hash: hash(), Source: source, Size: info.Size(), Changed: info.ModTime(),
		When: time.Now(), Seconds: time.Since(started).Seconds(),
	}
	if b, err = c.keep(b, filepath.Join(c.tree(), "linux")); err != nil {
		return b, false, err
	}
	w.step("removing the build tree")
	return b, true, os.RemoveAll(c.tree())
}

// lock keeps two builds apart.
func (c Cache) lock() (unlock func(), err error) {
	if err := os.MkdirAll(string(c), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(string(c), "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("another sirdbed is at work on the kernel in %s: wait for it", c)
	}
	return func() { file.Close() }, nil
}

// work is one build.
type work struct {
	cache   Cache
	options Options
	source  string
	version string
	log     *os.File
}

func (w *work) step(format string, args ...any) {
	if w.options.Step != nil {
		w.options.Step(fmt.Sprintf(format, args...))
	}
}

// preparedFile marks a tree that is unpacked, patched and configured; its text
// says from what.
const preparedFile = ".sirdbed-prepared"

func (w *work) run(ctx context.Context) (err error) {
	if w.log, err = os.Create(w.cache.Log()); err != nil {
		return err
	}
	defer w.log.Close()
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if w.version, err = w.kernelVersion(); err != nil {
		return err
	}
	w.step("compiling Linux %s as a program, on %d processors", w.version, runtime.NumCPU())
	if err := w.compile(ctx); err != nil {
		return err
	}
	if w.options.Verify != nil {
		w.step("booting it")
		if err := w.options.Verify(filepath.Join(w.cache.tree(), "linux")); err != nil {
			return fmt.Errorf("the kernel was built, but does not work: %w", err)
		}
	}
	return nil
}

// prepare unpacks, patches and configures, unless an interrupted build has.
func (w *work) prepare(ctx context.Context) error {
	tree := w.cache.tree()
	want := w.source + " " + hash() + "\n"
	if have, err := os.ReadFile(filepath.Join(tree, preparedFile)); err == nil && string(have) == want {
		w.step("going on with the build that was interrupted")
		return nil
	}
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return err
	}
	w.step("unpacking %s", w.source)
	unpack := []string{"tar", "xf", w.source, "-C", tree, "--strip-components=1"}
	for _, p := range unneeded {
		unpack = append(unpack, "--exclude="+p)
	}
	if err := w.tool(ctx, nil, nil, unpack...); err != nil {
		return err
	}
	w.step("applying the project's patch and configuration")
	if err := w.tool(ctx, files.Patch, nil, "patch", "-p1", "--batch", "--forward"); err != nil {
		return fmt.Errorf("%w\nthe patch is for Linux %s: name such a source with --source", err, files.Version)
	}
	if err := w.configure(ctx); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(tree, preparedFile), []byte(want), 0o644)
}

// unneeded is most of the source: drivers and other architectures. Their Kconfig
// files stay, since others include them.
var unneeded = []string{
	"*/drivers/gpu/*.[ch]", "*/drivers/media/*.[ch]", "*/drivers/net/ethernet/*.[ch]", "*/drivers/net/wireless/*.[ch]",
	"*/drivers/staging/*.[ch]", "*/drivers/infiniband/*.[ch]", "*/drivers/scsi/*.[ch]", "*/drivers/usb/*.[ch]", "*/drivers/iio/*.[ch]",
	"*/sound/*.[ch]", "*/Documentation/*.rst", "*/Documentation/*.yaml", "*/Documentation/*.txt", "*/tools/testing/*", "*/tools/perf/*",
	"*/arch/*.dts", "*/arch/*.dtsi", "*/arch/*.S.txt",
	"*/arch/arm/*.[chS]", "*/arch/arm64/*.[chS]", "*/arch/mips/*.[chS]", "*/arch/powerpc/*.[chS]", "*/arch/s390/*.[chS]",
	"*/arch/sparc/*.[chS]", "*/arch/m68k/*.[chS]", "*/arch/riscv/*.[chS]", "*/arch/parisc/*.[chS]", "*/arch/sh/*.[chS]",
	"*/arch/arc/*.[chS]", "*/arch/alpha/*.[chS]", "*/arch/loongarch/*.[chS]", "*/arch/xtensa/*.[chS]",
}

// configure turns on what the project lists and nothing else, and makes sure
// that Linux took all of it.
func (w *work) configure(ctx context.Context) error {
	list := filepath.Join(w.cache.tree(), ".sirdbed-config")
	if err := os.WriteFile(list, files.Config, 0o644); err != nil {
		return err
	}
	if err := w.tool(ctx, nil, nil, "make", "ARCH=um", "allnoconfig", "KCONFIG_ALLCONFIG="+list); err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(w.cache.tree(), ".config"))
	if err != nil {
		return err
	}
	var lost []string
	for line := range strings.Lines(string(files.Config)) {
		if strings.HasPrefix(line, "CONFIG_") && !bytes.Contains(got, []byte("\n"+line)) {
			lost = append(lost, strings.TrimSpace(line))
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("this source does not take %s: name one of Linux %s with --source", strings.Join(lost, ", "), files.Version)
	}
	return nil
}

func (w *work) compile(ctx context.Context) error {
	count := &lineCounter{each: func(n int) {
		if w.options.Compiled != nil {
			w.options.Compiled(min(n, expectedFiles), expectedFiles)
		}
	}}
	return w.tool(ctx, nil, count, "make", "ARCH=um", fmt.Sprintf("-j%d", runtime.NumCPU()), "linux")
}

// kernelVersion is what the source calls itself.
func (w *work) kernelVersion() (string, error) {
	text, err := os.ReadFile(filepath.Join(w.cache.tree(), "Makefile"))
	if err != nil {
		return "", fmt.Errorf("%s is not a source of Linux: %w", w.source, err)
	}
	value := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, v, ok := strings.Cut(line, "="); ok && len(value) < 4 {
			value[strings.TrimSpace(name)] = strings.TrimSpace(v)
		}
	}
	return value["VERSION"] + "." + value["PATCHLEVEL"] + "." + value["SUBLEVEL"], nil
}

// tool runs a program in the tree, in a process group of its own that ends with
// ctx and with this process.
func (w *work) tool(ctx context.Context, input []byte, count *lineCounter, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = w.cache.tree()
	cmd.Env = append(os.Environ(), "LC_ALL=C", "KBUILD_BUILD_TIMESTAMP=2024-11-17", "KBUILD_BUILD_USER=sirdbed", "KBUILD_BUILD_HOST=sirdbed", "MAKEFLAGS=")
	cmd.Stdin = bytes.NewReader(input)
	tail := &tail{}
	cmd.Stdout, cmd.Stderr = &tee{w.log, tail, count}, &tee{w.log, tail, nil}
	cmd.SysProcAttr = childAttr()
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return err
	case err != nil:
		return fmt.Errorf("%s: %w; its last words (all of them: %s)\n%s", argv[0], err, w.cache.Log(), tail)
	}
	return nil
}

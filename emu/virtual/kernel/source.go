//go:build linux

package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// preparedFile marks a tree that is unpacked, patched and configured; its text
// says from what.
const preparedFile = ".sirdbed-prepared"

func (w *work) preparedFrom() string { return w.source + " " + hash() + "\n" }

// prepared reports whether there is a tree that only has to be compiled.
func (w *work) prepared() bool {
	have, err := os.ReadFile(filepath.Join(w.cache.tree(), preparedFile))
	return err == nil && string(have) == w.preparedFrom()
}

// unpack unpacks, patches and configures.
func (w *work) unpack(ctx context.Context) error {
	tree := w.cache.tree()
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
		return fmt.Errorf("%s is no whole tarball: fetch it again, or name another with --source: %w", w.source, err)
	}
	version, err := w.kernelVersion()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(version, Version+".") {
		return fmt.Errorf("%s is Linux %s: name a source of Linux %s with --source (kernel.org has linux-%s.y)",
			w.source, version, Version, Version)
	}
	w.step("applying the project's patch and configuration")
	if err := w.tool(ctx, Patch, nil, "patch", "-p1", "--batch", "--forward"); err != nil {
		return fmt.Errorf("%w\nthe patch is for Linux %s as Debian and kernel.org have it: name such a source with "+
			"--source", err, Version)
	}
	if err := w.configure(ctx); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(tree, preparedFile), []byte(w.preparedFrom()), 0o644)
}

// unneeded is most of the source: drivers and other architectures. Their Kconfig
// files stay, since others include them.
var unneeded = []string{
	"*/drivers/gpu/*.[ch]", "*/drivers/media/*.[ch]", "*/drivers/net/ethernet/*.[ch]", "*/drivers/net/wireless/*.[ch]",
	"*/drivers/staging/*.[ch]", "*/drivers/infiniband/*.[ch]", "*/drivers/scsi/*.[ch]", "*/drivers/usb/*.[ch]",
	"*/drivers/iio/*.[ch]",
	"*/drivers/accel/*.[ch]", "*/drivers/clk/*.[ch]", "*/drivers/comedi/*.[ch]", "*/drivers/crypto/*.[ch]",
	"*/drivers/hwmon/*.[ch]",
	"*/drivers/hid/*.[ch]", "*/drivers/md/*.[ch]", "*/drivers/mfd/*.[ch]", "*/drivers/mmc/*.[ch]",
	"*/drivers/mtd/*.[ch]",
	"*/drivers/phy/*.[ch]", "*/drivers/pinctrl/*.[ch]", "*/drivers/platform/*.[ch]", "*/drivers/regulator/*.[ch]",
	"*/drivers/s390/*.[ch]",
	"*/drivers/soc/*.[ch]", "*/drivers/video/*.[ch]",
	"*/sound/*.[ch]", "*/Documentation/*.rst", "*/Documentation/*.yaml", "*/Documentation/*.txt", "*/tools/testing/*",
	"*/tools/perf/*",
	"*/arch/*.dts", "*/arch/*.dtsi",
	"*/arch/arm/*.[chS]", "*/arch/arm64/*.[chS]", "*/arch/mips/*.[chS]", "*/arch/powerpc/*.[chS]",
	"*/arch/s390/*.[chS]",
	"*/arch/sparc/*.[chS]", "*/arch/m68k/*.[chS]", "*/arch/riscv/*.[chS]", "*/arch/parisc/*.[chS]", "*/arch/sh/*.[chS]",
	"*/arch/arc/*.[chS]", "*/arch/alpha/*.[chS]", "*/arch/loongarch/*.[chS]", "*/arch/xtensa/*.[chS]",
}

// kernelVersion is what the source calls itself.
func (w *work) kernelVersion() (string, error) {
	text, err := os.ReadFile(filepath.Join(w.cache.tree(), "Makefile"))
	if err != nil {
		return "", fmt.Errorf("%s is not a source of Linux: name one of Linux "+Version+" with --source: %w", w.source,
			err)
	}
	value := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, v, ok := strings.Cut(line, "="); ok && len(value) < 4 {
			value[strings.TrimSpace(name)] = strings.TrimSpace(v)
		}
	}
	if value["VERSION"] == "" || value["PATCHLEVEL"] == "" {
		return "",
			fmt.Errorf("%s is not a source of Linux: name one of Linux %s with --source (its Makefile has no version)",
				w.source, Version)
	}
	return value["VERSION"] + "." + value["PATCHLEVEL"] + "." + value["SUBLEVEL"], nil
}

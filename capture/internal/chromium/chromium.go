// Package chromium lets tests see pages as readers do: it runs headless Chromium by its
// command line, each time as a new user of it.
package chromium

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// RequireVariable is set to 1 where a test must not skip for want of Chromium.
const RequireVariable = "SIRDBED_REQUIRE_CHROMIUM"

// Require skips the test unless there is a Chromium that works.
func Require(t *testing.T) {
	t.Helper()
	out, err := execute(t, "data:text/html,works", "--dump-dom")
	switch {
	case err == nil && strings.Contains(string(out), "works"):
	case os.Getenv(RequireVariable) == "1":
		t.Fatalf("Chromium (Debian's package chromium) does not work, and %s=1: %v", RequireVariable, err)
	default:
		t.Skipf("Chromium (Debian's package chromium) does not work here: %v", err)
	}
}

// DOM is the page at url as HTML, when its scripts have run for some virtual seconds.
func DOM(t *testing.T, url string, flags ...string) string {
	t.Helper()
	out, err := execute(t, url, append([]string{"--dump-dom"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Screenshot is the page at url in a window of a size in pixels.
func Screenshot(t *testing.T, url string, width, height int, flags ...string) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.png")
	size := fmt.Sprintf("--window-size=%d,%d", width, height)
	_, err := execute(t, url, append([]string{"--screenshot=" + path, "--hide-scrollbars", size}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// PDF is the page at url as printed.
func PDF(t *testing.T, url string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.pdf")
	if _, err := execute(t, url, "--print-to-pdf="+path, "--no-pdf-header-footer"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// execute runs Chromium on a page. Whatever that writes to its console, as errors of scripts and
// what its rules refuse are, fails the test.
func execute(t *testing.T, url string, flags ...string) (stdout []byte, err error) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home) // its children may write for a moment yet: t.TempDir would fail
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"--headless", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=" + home, "--enable-logging=stderr",
		"--virtual-time-budget=3000"}, append(flags, url)...)...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
	stdout, err = cmd.Output()
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, ":CONSOLE") {
			t.Errorf("the browser says %s", line)
		}
	}
	if err != nil {
		err = fmt.Errorf("chromium: %w\n%s", err, &stderr)
	}
	return stdout, err
}

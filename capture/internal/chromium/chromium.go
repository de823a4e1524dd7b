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
	"sync"
	"testing"
	"time"
)

// RequireVariable is set to 1 where a test must not skip for want of Chromium.
const RequireVariable = "SIRDBED_REQUIRE_CHROMIUM"

// Require skips the test unless there is a Chromium that works.
func Require(t *testing.T) {
	t.Helper()
	err := works()
	switch {
	case err == nil:
	case os.Getenv(RequireVariable) == "1":
		t.Fatalf("Chromium (Debian's package chromium) does not work, and %s=1: %v", RequireVariable, err)
	default:
		t.Skipf("Chromium (Debian's package chromium) does not work here: %v", err)
	}
}

// works is why Chromium does not work, nil if it does.
var works = sync.OnceValue(func() error {
	out, _, err := execute(context.Background(), "data:text/html,works", "--dump-dom")
	if err == nil && !strings.Contains(string(out), "works") {
		err = fmt.Errorf("it has %q on a page that says works", out)
	}
	return err
})

// DOM is the page at url as HTML, when its scripts have run for some virtual seconds.
func DOM(t *testing.T, url string, flags ...string) string {
	t.Helper()
	return string(browse(t, url, append([]string{"--dump-dom"}, flags...)...))
}

// Screenshot is the page at url in a window of a size in pixels.
func Screenshot(t *testing.T, url string, width, height int, flags ...string) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.png")
	size := fmt.Sprintf("--window-size=%d,%d", width, height)
	browse(t, url, append([]string{"--screenshot=" + path, "--hide-scrollbars", size}, flags...)...)
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
	browse(t, url, "--print-to-pdf="+path, "--no-pdf-header-footer")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// browse runs Chromium on a page. Whatever that writes to its console, as errors of scripts
// and what its rules refuse are, fails the test.
func browse(t *testing.T, url string, flags ...string) (stdout []byte) {
	t.Helper()
	stdout, console, err := execute(t.Context(), url, flags...)
	for _, line := range console {
		t.Errorf("the browser says %s", line)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stdout
}

func execute(ctx context.Context, url string, flags ...string) (stdout []byte, console []string, err error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil, err
	}
	home, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, nil, err
	}
	defer removeAll(home)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"--headless", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=" + home, "--enable-logging=stderr",
		"--virtual-time-budget=20000"}, append(flags, url)...)...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
	stdout, err = cmd.Output()
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, ":CONSOLE") {
			console = append(console, line)
		}
	}
	if err != nil {
		err = fmt.Errorf("chromium: %w\n%s", err, &stderr)
	}
	return stdout, console, err
}

// removeAll removes the browser's directory, in which children of it may write for a moment
// yet.
func removeAll(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

package live

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// dom is the page as a browser has drawn it, in a color scheme. The test is skipped where
// there is no Chromium that works.
func dom(t *testing.T, url string, flags ...string) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no Chromium here (Debian's package chromium)")
	}
	browse := func(url string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, append([]string{"--headless", "--no-sandbox", "--disable-gpu",
			"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
			"--disable-sync", "--user-data-dir=" + t.TempDir(), "--window-size=1400,1300", "--enable-logging=stderr",
			"--virtual-time-budget=3000", "--dump-dom"}, append(flags, url)...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.WaitDelay = 5 * time.Second
		out, err := cmd.Output()
		for line := range strings.Lines(stderr.String()) {
			if strings.Contains(line, ":CONSOLE") { // errors of the script, and what its rules refuse
				t.Errorf("the browser says %s", line)
			}
		}
		return string(out), err
	}
	if out, err := browse("data:text/html,works"); err != nil || !strings.Contains(out, "works") {
		t.Skipf("Chromium does not work here: %v", err)
	}
	out, err := browse(url)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// In a browser, the page draws the run that it is served, by its own rules, in light and
// in dark, while the run goes on and when it has ended.
func TestPageInABrowser(t *testing.T) {
	for name, c := range map[string]struct {
		ended bool
		flags []string
		load  string // color of a link without load
	}{
		"running": {load: "rgb(227,238,246)"},
		"dark":    {flags: []string{"--blink-settings=preferredColorScheme=0"}, load: "rgb(36,50,60)"},
		"ended":   {ended: true, load: "rgb(227,238,246)"},
	} {
		t.Run(name, func(t *testing.T) {
			run := lookedAt(t)
			if c.ended {
				if _, err := run.End(false); err != nil {
					t.Fatal(err)
				}
				run.Finish()
			}
			page := dom(t, listen(t, run).URL(), c.flags...)
			for _, want := range []string{
				`<h1 id="title">test on real: v</h1>`, "Gbps, h2-1", "of 200 messages", ">leaf1<", ">leaf2<",
				">spine1<", ">h2-2<", `<td>leaf1&gt;h1-2</td>`, `<option value="credit">credit</option>`,
				"A: &lt; 1.46 KB", c.load,
			} {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %s", want)
				}
			}
			if got := strings.Contains(page, ">The run has ended. This page"); got != c.ended {
				t.Errorf("the page says that the run has ended: %v", got)
			}
			if links := strings.Count(page, "<line "); links != 12 { // 4 hosts and 2 leaves, both directions
				t.Errorf("the fabric has %d directions of links, want 12", links)
			}
		})
	}
}

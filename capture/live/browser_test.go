package live

import (
	"strings"
	"testing"

	"sirdbed/capture/internal/chromium"
)

// In a browser, the page draws the run that it is served, by its own rules, in light and
// in dark, while the run goes on and when it has ended.
func TestPageInABrowser(t *testing.T) {
	chromium.Require(t)
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
			page := chromium.DOM(t, listen(t, run).URL(), append(c.flags, "--window-size=1400,1300")...)
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

package report

import (
	"bytes"
	"compress/zlib"
	"html"
	"image/color"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sirdbed/capture/internal/chromium"
	"sirdbed/capture/results"
)

// served is a directory with the page of a made-up run, as page.html, and the address of
// its server.
func served(t *testing.T) (dir, url string) {
	t.Helper()
	variants, s := result(t)
	text, err := RunPage(results.NewManifest(nil, variants, s), s, Figures(variants), About{}).HTML()
	must(t, err)
	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "page.html"), text, 0o644))
	probe, err := os.ReadFile("testdata/probe.html")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "probe.html"), probe, 0o644))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return dir, server.URL
}

// What a reader does with a page, in Chromium: testdata/probe.html does it.
func TestPageInABrowser(t *testing.T) {
	chromium.Require(t)
	dir, url := served(t)
	text, err := hostilePage().HTML()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "hostile.html"), text, 0o644))
	text, err = setsPage().HTML()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "sets.html"), text, 0o644))
	page := chromium.DOM(t, url+"/probe.html", "--window-size=1400,1000")
	_, page, _ = strings.Cut(page, `<pre id="found">`)
	page, _, _ = strings.Cut(page, "</pre>")
	found := html.UnescapeString(page)
	for _, want := range []string{
		"phone overflows: false", "desk overflows: false", "phone canvases: 7", "desk canvases: 7", "figures: 7",
		"at first: fast slow",
		"without slow: " + strings.Repeat("fast;", 6) + "fast\n", "fragment: #off=slow\n",
		"slow alone: slow\n", "all again: fast slow\n",
		`hover slowdown: A <1460B\|fast\|\S+\|\S+\|1520 messages\|slow\|\S+\|\S+\|1520 messages\n`,
		"left slowdown: -\n",
		`hover queue: nominal time \(ms\): (0\.9\d+)\|fast\|\S+\|slow\|\S+\n`,
		`hover goodput: nominal time \(ms\): 0\.9\d*\|fast\|\S+\|slow\|\S+\n`,
		`zoomed: #zoom:queue=2\.[45]\d*,[45][.0-9]*,10[.0-9]*,3[12][.0-9]*&see=queue\n`, "zoomed out: #see=queue\n",
		"log: #y:queue=log&see=queue\n", "focus: slow false\n",
		`shared: fast nominal time \(ms\): 5\|fast\|\S+\n`, "shared can zoom out: true\n",
		`sorted: 1520 80\* 1520 80\*; 80\* 80\* 1520 1520; 1520 1520 80\* 80\*; 1520 80\* 1520 80\*\n`,
		"open before: 1\n", "folded on paper: 0\n",
		"hostile legend: " + regexp.QuoteMeta(hostile) + "\n", "hostile zooms: false false\n", "hostile script: none",
		`headings: A set\|Of both\.\|left\|right\n`, "scrolled to far: true\n",
		`shares: share 0\.55\d*: x\|a\|4\|b\|beyond\n`, "click 1: true\nclick 2: false\n",
		`names 0: low 1\|high 2\|low 3\|high -\n`, `names 1: low 3\|high 2\|low 1\|high -\n`,
		`arranged: #fold=More&sort:0=2,up&see=shares\n`, `arranged again: value true true\n`,
		`names 2: low 1\| 3\|high 2\| -\n`,
	} {
		if !regexp.MustCompile(want).MatchString(found) {
			t.Errorf("no %s", want)
		}
	}
	variants, _ := result(t)
	checkHover(t, found, Figures(variants))
	if t.Failed() {
		t.Logf("found:\n%s", found)
	}
}

// checkHover compares what the page says of the queues at a time with the figure's own data.
func checkHover(t *testing.T, found string, figures []Figure) {
	t.Helper()
	line := regexp.MustCompile(`hover queue: nominal time \(ms\): ([\d.]+)\|fast\|(\S+)\|slow\|(\S+)\n`)
	match := line.FindStringSubmatch(found)
	if match == nil {
		return // reported already
	}
	var read [3]float64
	for i := range read {
		read[i], _ = strconv.ParseFloat(match[i+1], 64)
	}
	queue := figures[slices.IndexFunc(figures, func(f Figure) bool { return f.Name == "queue" })]
	for i, s := range queue.Series {
		want, near := 0.0, 0.0
		for _, p := range s.Points { // the value that holds, or if its border is too near to say, the next one
			if p.X <= read[0]-0.001 {
				want = p.Y
			}
			if p.X <= read[0]+0.001 {
				near = p.Y
			}
		}
		if got := read[i+1]; math.Abs(got-want) > 0.005*want && math.Abs(got-near) > 0.005*near {
			t.Errorf("the page says that %s has %v KB at %v ms, the figure has %v", s.Name, got, read[0], want)
		}
	}
}

// hostile is a text that would run a script where it is taken for HTML.
const hostile = `</script><script>parent.hostile=1</script><img src=x onerror=parent.hostile=1>'"&{{.}}`

// hostilePage has it everywhere.
func hostilePage() *Page {
	axis := Axis{Label: hostile, Max: 2}
	series := func(shape Shape) Series {
		return Series{Name: hostile, Protocol: hostile, Shape: shape,
			Points: []Point{{X: 0, Y: 1, High: 2, Note: hostile}, {X: 1, Y: 1, High: 1}}}
	}
	table := Table{Title: hostile, Note: hostile, Header: []string{hostile, hostile}, Left: 1,
		Rows: [][]string{{hostile, hostile}, {hostile, "-"}}}
	p := &Page{
		Title: hostile, Lead: []string{hostile}, Command: hostile, Verdict: results.Invalid, Meaning: hostile,
		Reasons: []string{hostile}, Notes: []string{hostile}, Footer: hostile,
		Sections: []Section{{Title: hostile, Short: hostile, Open: true, Tables: []Table{table},
			Notes: []string{hostile}}},
	}
	for _, shape := range []Shape{Line, Steps, Curve, Marks} {
		p.Figures = append(p.Figures, Figure{Name: string(shape), Title: hostile, Caption: hostile, X: axis, Y: axis,
			Guides: []Guide{{Label: hostile, X: 0.5}}, Series: []Series{series(shape)}})
	}
	p.Figures = append(p.Figures, Figure{Name: "bars", Title: hostile, Caption: hostile, Y: axis,
		Groups: []string{hostile, hostile}, Series: []Series{series(Bars)}})
	return p
}

// setsPage has two figures of a set, one far below them, and a table of names that rows share.
func setsPage() *Page {
	figure := func(name string) Figure {
		return Figure{Name: name, Title: name, X: Axis{Label: "x"}, Y: Axis{Label: "y"},
			Series: []Series{{Name: "a", Shape: Curve, Points: []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}}}}
	}
	shares := figure("shares")
	shares.Set, shares.Panel, shares.Caption, shares.Shares = "A set", "left", "Of both.", true
	shares.Y = Axis{Label: "share", Max: 1}
	shares.Series = []Series{
		{Name: "a", Shape: Steps, Points: []Point{{X: 1, Y: 0.2}, {X: 4, Y: 0.9}, {X: 8, Y: 1}}},
		{Name: "b", Shape: Steps, Points: []Point{{X: 2, Y: 0.1}, {X: 3, Y: 0.5}}},
	}
	right := figure("right")
	right.Set, right.Panel, right.Caption = "A set", "right", "Of both."
	return &Page{
		Title: "Sets", Figures: []Figure{shares, right, figure("near"), figure("nearer"), figure("far")},
		Sections: []Section{{Title: "Names", Open: true, Tables: []Table{{
			Header: []string{"name", "", "value"}, Left: 2,
			Rows: [][]string{{"low", "u", "1"}, {"", "v", "3"}, {"high", "u", "2"}, {"", "v", "-"}},
		}}}, {Title: "More", Short: "in short", Tables: []Table{{
			Header: []string{"a"}, Rows: [][]string{{"1"}, {"2"}},
		}}}},
	}
}

// What is shown is seen: each view of the page is another picture.
func TestViewsDiffer(t *testing.T) {
	chromium.Require(t)
	dir, _ := served(t)
	file := "file://" + filepath.Join(dir, "page.html")
	colors := func(view string) map[color.RGBA]int {
		picture, counts := chromium.Screenshot(t, file+view, 1280, 2000), map[color.RGBA]int{}
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				counts[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
			}
		}
		return counts
	}
	all, other := colors(""), colors("#off=slow&y:slowdown=linear&zoom:slowdown=-0.5,0.5,0,3")
	for look := range 2 {
		if n := all[colorOf(look)]; n < 2000 {
			t.Errorf("%d pixels of the color of variant %d", n, look)
		}
	}
	if n := other[colorOf(1)]; n > 100 {
		t.Errorf("%d pixels of a variant that is hidden, %d of it else", n, all[colorOf(1)])
	}
	if a, b := all[colorOf(0)], other[colorOf(0)]; max(a, b)-min(a, b) < 1000 {
		t.Errorf("%d pixels of a color with a linear, zoomed axis, %d without", b, a)
	}
}

// On paper figures are pictures of their own, and the tables are there.
func TestPageOnPaper(t *testing.T) {
	chromium.Require(t)
	dir, _ := served(t)
	pdf := chromium.PDF(t, "file://"+filepath.Join(dir, "page.html"))
	pages := len(regexp.MustCompile(`/Type /Page\b`).FindAll(pdf, -1))
	drawing := inflated(pdf)
	// Strokes in the colors of the two variants: figures are drawn, and are no pictures of dots.
	blue := len(regexp.MustCompile(`0 \.447\d* \.698\d* RG`).FindAll(drawing, -1))
	orange := len(regexp.MustCompile(`\.835\d* \.368\d* 0 RG`).FindAll(drawing, -1))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) || pages < 2 || pages > 8 || blue < 6 || orange < 6 {
		t.Errorf("%d pages with %d and %d lines of the variants, want 2 to 8 with 6 each", pages, blue, orange)
	}
}

// inflated is what the compressed streams of a PDF hold, one after another.
func inflated(pdf []byte) (out []byte) {
	for part := range bytes.SplitSeq(pdf, []byte("stream\n")) {
		if r, err := zlib.NewReader(bytes.NewReader(part)); err == nil {
			text, _ := io.ReadAll(io.LimitReader(r, 1<<26))
			out = append(out, text...)
		}
	}
	return out
}

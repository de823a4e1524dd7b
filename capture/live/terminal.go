package live

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Terminal shows a run in lines that it draws again and again. It is for one goroutine.
//
// Between two frames the terminal is as it was found, but for the lines: so it is restored
// however the run and its processes end, killed ones included.
type Terminal struct {
	w    io.Writer
	size func() (columns, rows int)

	drawn int // lines of the frame on the screen
}

// What a terminal is told.
const (
	take    = "\x1b[?25l\x1b[?7l" // hide the cursor, do not wrap lines
	restore = "\x1b[?7h\x1b[?25h"
	toEOL   = "\x1b[K" // erase to the end of the line
	toEnd   = "\x1b[J" // and of the screen
)

// NewTerminal returns a Terminal of a size, which may change.
func NewTerminal(w io.Writer, size func() (columns, rows int)) *Terminal {
	return &Terminal{w: w, size: size}
}

// Draw draws a frame in the place of the last one, in one write.
func (t *Terminal) Draw(about About, g *Glance) error {
	columns, rows := t.size()
	lines := Lines(about, g, columns)
	lines = lines[:max(0, min(len(lines), rows-1))]
	var b strings.Builder
	b.WriteString(take)
	t.back(&b)
	for _, l := range lines {
		b.WriteString(clip(l, columns) + toEOL + "\r\n")
	}
	b.WriteString(toEnd + restore)
	t.drawn = len(lines)
	_, err := io.WriteString(t.w, b.String())
	return err
}

// back goes to the first line of the frame.
func (t *Terminal) back(b *strings.Builder) {
	if t.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA", t.drawn)
	}
	b.WriteString("\r")
}

// Leave leaves the last frame where it is: the next one is drawn below.
func (t *Terminal) Leave() { t.drawn = 0 }

// clip cuts a line to a number of columns.
func clip(line string, columns int) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:max(0, columns)])
}

// Lines is a run in lines of text.
func Lines(about About, g *Glance, columns int) []string {
	if g == nil {
		return []string{about.Scenario + " on " + string(about.Engine)}
	}
	wide := max(10, min(columns, 100)-10)
	lines := []string{
		fmt.Sprintf("%s on %s  [%d/%d] %s  %s", about.Scenario, about.Engine, g.Number, g.Of, g.Variant, g.pace()),
		bar(g.share(), min(wide, 60)) + fmt.Sprintf(" %3.0f %%", 100*g.share()),
		fmt.Sprintf("goodput   %.2f Gbps/host  %s", g.Gbps, spark(g.Total, min(wide-24, 60))),
	}
	for i, h := range g.Hosts[:min(len(g.Hosts), shownLines)] {
		head := "          "
		if i == 0 {
			head = "hosts     "
		}
		lines = append(lines, fmt.Sprintf("%s%-12s %7.2f Gbps  %s", head, h.Name, h.Gbps,
			bar(h.Gbps/g.Hosts[0].Gbps, 20)))
	}
	for i, q := range g.Queues[:min(len(g.Queues), shownLines)] {
		head := "          "
		if i == 0 {
			head = "queues    "
		}
		lines = append(lines, fmt.Sprintf("%s%-14s %7.1f KB now %8.1f KB deepest", head, q.Name, float64(q.Now)/1e3,
			float64(q.Deepest)/1e3))
	}
	lines = append(lines, fmt.Sprintf("messages  %d of %d done%s", g.Done, g.Offered, failed(g.Failed)))
	if len(g.Slowdowns) > 0 {
		text := "slowdown "
		for _, s := range g.Slowdowns {
			text += fmt.Sprintf(" %s %.2f/%.2f ", s.Group, s.P50, s.P99)
		}
		lines = append(lines, text+" p50/p99")
	}
	return lines
}

// shownLines is how many hosts and queues have a line of their own.
const shownLines = 4

func failed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d failed", n)
}

// share is how much of its time the variant has run, 1 when it has ended.
func (g *Glance) share() float64 {
	switch {
	case g.State != Running:
		return 1
	case g.End <= 0:
		return 0
	}
	return float64(g.Reached) / float64(g.End)
}

// pace says how far a variant has come, and how long the rest will take.
func (g *Glance) pace() string {
	text := fmt.Sprintf("%.2f of %.2f ms, %.0f s", float64(g.Reached)/1e6, float64(g.End)/1e6, g.Seconds)
	if share := g.share(); g.State == Running && share > 0.02 {
		text += fmt.Sprintf(", %.0f s left", g.Seconds*(1-share)/share)
	}
	return text
}

// Plain is the same in one line, for what is no terminal.
func Plain(g *Glance) string {
	text := fmt.Sprintf("[%d/%d] %s: %s: %.2f Gbps/host", g.Number, g.Of, g.Variant, g.pace(), g.Gbps)
	if len(g.Hosts) > 0 {
		text += fmt.Sprintf(", %s %.2f", g.Hosts[0].Name, g.Hosts[0].Gbps)
	}
	if len(g.Queues) > 0 {
		text += fmt.Sprintf("; deepest queue %s %.1f KB", g.Queues[0].Name, float64(g.Queues[0].Deepest)/1e3)
	}
	text += fmt.Sprintf("; %d of %d messages done%s", g.Done, g.Offered, failed(g.Failed))
	if len(g.Slowdowns) > 0 {
		text += fmt.Sprintf("; slowdown p50 %.2f, p99 %.2f", g.Slowdowns[0].P50, g.Slowdowns[0].P99)
	}
	return text
}

// bar is a share of a line.
func bar(share float64, columns int) string {
	full := max(0, min(columns, int(share*float64(columns)+0.5)))
	return strings.Repeat("█", full) + strings.Repeat("░", columns-full)
}

// spark is a curve of one line: the largest of each stretch of values, against the largest
// of all.
func spark(values []float64, columns int) string {
	const heights = "▁▂▃▄▅▆▇█"
	steps, most := []rune(heights), 0.0
	if columns <= 0 || len(values) == 0 {
		return ""
	}
	columns = min(columns, len(values))
	tops := make([]float64, columns)
	for i, v := range values {
		c := i * columns / len(values)
		tops[c] = max(tops[c], v)
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range tops {
		i := 0
		if most > 0 {
			i = min(len(steps)-1, int(v/most*float64(len(steps))))
		}
		b.WriteRune(steps[i])
	}
	return b.String()
}

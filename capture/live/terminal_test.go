package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var about = About{Scenario: "incast", Engine: "real", Variants: []string{"srpt", "rr"}}

func exampleGlance() *Glance {
	return &Glance{
		Variant: "srpt", State: Running, Number: 1, Of: 2, Seconds: 8, Reached: 6_500_000, End: 13_000_000,
		Gbps: 12.12, Total: []float64{0, 50, 97, 97}, Offered: 1234, Done: 1200, Failed: 1,
		Hosts:     []NamedBps{{"h1-8", 96.93}, {"h1-7", 1.6}},
		Queues:    []Queue{{"leaf1>h1-8", 9000, 63_100}},
		Slowdowns: []Slowdown{{"all", 1200, 1.01, 4.1}, {"A", 1000, 1.02, 1.35}},
	}
}

func TestLines(t *testing.T) {
	got := strings.Join(Lines(about, exampleGlance(), 80), "\n")
	want := strings.Join([]string{
		"incast on real  [1/2] srpt  6.50 of 13.00 ms, 8 s, 8 s left",
		strings.Repeat("█", 30) + strings.Repeat("░", 30) + "  50 %",
		"goodput   12.12 Gbps/host  ▁▅██",
		"hosts     h1-8           96.93 Gbps  ████████████████████",
		"          h1-7            1.60 Gbps  ░░░░░░░░░░░░░░░░░░░░",
		"queues    leaf1>h1-8         9.0 KB now     63.1 KB deepest",
		"messages  1200 of 1234 done, 1 failed",
		"slowdown  all 1.01/4.10  A 1.02/1.35  p50/p99",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPlain(t *testing.T) {
	want := "[1/2] srpt: 6.50 of 13.00 ms, 8 s, 8 s left: 12.12 Gbps/host, h1-8 96.93; " +
		"deepest queue leaf1>h1-8 63.1 KB; 1200 of 1234 messages done, 1 failed; slowdown p50 1.01, p99 4.10"
	if got := Plain(exampleGlance()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got := Plain(&Glance{Variant: "srpt", State: Running, Number: 1, Of: 1})
	if got == "" || strings.Contains(got, "NaN") {
		t.Errorf("of a run that has not begun: %q", got)
	}
}

// A screen is a terminal that understands what a Terminal sends.
type screen struct {
	t             *testing.T
	columns, rows int
	lines         []string
	row           int
	hidden        bool // the cursor
	unwrapped     bool
}

func (s *screen) Write(b []byte) (int, error) {
	for text := string(b); text != ""; {
		text = s.take(text)
	}
	if s.hidden || s.unwrapped {
		s.t.Error("between two frames the terminal is not as it was")
	}
	return len(b), nil
}

// take takes the first control sequence or character.
func (s *screen) take(text string) (rest string) {
	for sequence, do := range map[string]func(){
		"\x1b[?25l": func() { s.hidden = true }, "\x1b[?25h": func() { s.hidden = false },
		"\x1b[?7l": func() { s.unwrapped = true }, "\x1b[?7h": func() { s.unwrapped = false },
		"\x1b[K": func() {}, // a line is written anew after each return
		"\x1b[J": func() { s.lines = s.lines[:min(s.row, len(s.lines))] },
		"\r":     func() {},
		"\n":     func() { s.row++ },
	} {
		if rest, ok := strings.CutPrefix(text, sequence); ok {
			do()
			return rest
		}
	}
	var up int
	if n, _ := fmt.Sscanf(text, "\x1b[%dA", &up); n == 1 {
		if s.row -= up; s.row < 0 {
			s.t.Fatalf("the cursor leaves the screen: up %d", up)
		}
		return strings.TrimPrefix(text, fmt.Sprintf("\x1b[%dA", up))
	}
	line, _, _ := strings.Cut(text, "\x1b")
	line, _, _ = strings.Cut(line, "\r")
	if line == "" {
		s.t.Fatalf("a terminal does not understand %q", text[:min(10, len(text))])
	}
	if n := len([]rune(line)); n > s.columns {
		s.t.Errorf("a line of %d columns on a terminal of %d", n, s.columns)
	}
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, "")
	}
	s.lines[s.row] = line
	return text[len(line):]
}

// Each frame takes the place of the last one, on terminals of any size; what is below the
// last frame stays.
func TestFrames(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 24}, {200, 50}, {80, 4}, {20, 2}, {1, 1}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			s := &screen{t: t, columns: size[0], rows: size[1]}
			term := NewTerminal(s, func() (int, int) { return s.columns, s.rows })
			long, short := exampleGlance(), exampleGlance()
			short.Hosts, short.Slowdowns = nil, nil
			for _, g := range []*Glance{nil, short, long, short, long} {
				if err := term.Draw(about, g); err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, l := range Lines(about, g, s.columns)[:min(len(Lines(about, g, s.columns)), s.rows-1)] {
					want = append(want, clip(l, s.columns))
				}
				if !slices.Equal(s.lines, want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(s.lines, "\n"), strings.Join(want, "\n"))
				}
			}
			before := slices.Clone(s.lines)
			term.Leave()
			done := clip("done in 8 s", s.columns)
			fmt.Fprint(s, done+"\r\n")
			if err := term.Draw(about, short); err != nil {
				t.Fatal(err)
			}
			if want := append(before, done); !slices.Equal(s.lines[:min(len(s.lines), len(want))], want) {
				t.Errorf("got\n%s\nwant first\n%s", strings.Join(s.lines, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

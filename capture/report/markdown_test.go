package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// written writes Markdown and checks its tables: as many cells in each row.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	must(t, write(&out))
	columns := 0
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|") - strings.Count(line, `\|`)
		if columns != 0 && n != columns {
			t.Errorf("got %d cells, want %d as above: %s", n-1, columns-1, line)
		}
		columns = n
	}
	return out.String()
}

func TestMarkdownOfARun(t *testing.T) {
	got := written(t, outcome().Markdown)
	for _, want := range []string{
		"## made\\|up on real: INVALID, 2 variants failed, 4 of 5 bounds not met\n",
		"\n- b failed: a host died\n- c failed: never began\n",
		"\n- a: link drops: 3 packets\\_lost\n",
		"\n- not run: tcp: the model has no kernel\n",
		"\n### Variants\n\n| variant | protocol |",
		"\n| :--- | :--- | ---: |",
		"\n### Bounds\n\n| bound | value |",
		"\n| queue | 200000 |  | 108456 | B | FAIL |\n",
		"\nnone: no stream of that name.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}

	fine := outcome()
	fine.Failed, fine.Bounds = nil, fine.Bounds[:1]
	if got := written(t, fine.Markdown); !strings.Contains(got, "INVALID, all bounds met\n") {
		t.Errorf("with all bounds met:\n%s", got)
	}
	if err := fine.Markdown(failing{}); err == nil {
		t.Error("a writer's error is not told")
	}
}

func TestMarkdownOfAComparison(t *testing.T) {
	for _, c := range []struct {
		within *float64
		want   []string
	}{
		{nil, []string{"## Comparison\n", "\n### v\n\n| metric | one | two | change | diff |\n",
			"| goodput, Gbps per host | 10.00 | 11.00 | +1.00 | +10.0 % |\n"}},
		{new(0.05), []string{
			"## Comparison: 1 of 4 figures differ by more than 5 %, 2 are missing on one side\n",
			"\n### v\n\n| metric | one | two | change | diff | within 5 % |\n",
			"| verdict | PASS | PASS |  |  |  |\n",
			"| goodput, Gbps per host | 10.00 | 11.00 | +1.00 | +10.0 % | FAIL |\n",
			"| latency of few p50, us | 1.00\\* | 2.00\\* | +1.00 | +100.0 % | few |\n",
			"| latency of more p50, us | - | 2.00 |  |  | missing |\n",
			"| queue max, KB | 0 | 0 | 0 |  | ok |\n",
		}},
	} {
		got := written(t, compared(c.within).Markdown)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
}

// What a terminal would take for a command is in no cell, whoever named the directory.
func TestMarkdownHasNoEscapeSequences(t *testing.T) {
	var b strings.Builder
	err := MarkdownTables(&b, []Table{{
		Title: "a\x1b[2Jb", Header: []string{"x\x07"}, Rows: [][]string{{"ü\x1b]0;c\x07"}}, Note: "n\x1b\nm",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.ContainsAny(got, "\x1b\x07") || !strings.Contains(got, "ü") ||
		!strings.Contains(got, "a\ufffd\\[2Jb") || !strings.Contains(got, "n\ufffd m") {
		t.Errorf("%q", got)
	}
}

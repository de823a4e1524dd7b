package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"sirdbed/topo"
)

// What fits on a page. Of more leaves or hosts, the first ones and the last one are
// drawn.
const (
	drawnColumns = 5
	drawnHosts   = 8
	columnWidth  = 18
)

// drawFabric draws a fabric as text: spines over leaves over hosts.
func drawFabric(w io.Writer, f *topo.Fabric) error {
	d := &drawing{}
	if f.Spec.Spines > 0 {
		spines := columns(f.Spec.Spines, func(i int) string { return fmt.Sprintf("spine%d", i) })
		d.boxes(spines, false, true)
		leaves := min(f.Spec.Leaves, drawnColumns)
		d.bus(len(spines), leaves, fmt.Sprintf("every leaf to every spine: %v, %v", f.Spec.CoreRate, f.Spec.CoreDelay))
	}
	d.boxes(columns(f.Spec.Leaves, func(i int) string { return fmt.Sprintf("leaf%d", i) }), f.Spec.Spines > 0, true)
	d.hosts(f)
	_, err := io.WriteString(w, d.b.String())
	return err
}

// columns names what is drawn side by side, "" for what is left out.
func columns(n int, name func(int) string) (list []string) {
	for i := 1; i <= n; i++ {
		switch {
		case n <= drawnColumns || i < drawnColumns-1 || i == n:
			list = append(list, name(i))
		case i == drawnColumns-1:
			list = append(list, "")
		}
	}
	return list
}

type drawing struct{ b strings.Builder }

// line writes cells, each in the middle of a column.
func (d *drawing) line(cells []string) {
	var l strings.Builder
	for _, c := range cells {
		space := columnWidth - utf8.RuneCountInString(c)
		l.WriteString(strings.Repeat(" ", space/2) + c + strings.Repeat(" ", space-space/2))
	}
	d.b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
}

func (d *drawing) boxes(names []string, linkUp, linkDown bool) {
	const side = 9
	edge := func(left, mid, right string, link bool) (cells []string) {
		for _, n := range names {
			bar := []rune(strings.Repeat("─", side))
			if link {
				bar[side/2] = []rune(mid)[0]
			}
			cell := left + string(bar) + right
			if n == "" {
				cell = ""
			}
			cells = append(cells, cell)
		}
		return cells
	}
	var middle []string
	for _, n := range names {
		if n == "" {
			middle = append(middle, "· · ·")
			continue
		}
		space := side - len(n)
		middle = append(middle, "│"+strings.Repeat(" ", space/2)+n+strings.Repeat(" ", space-space/2)+"│")
	}
	d.line(edge("┌", "┴", "┐", linkUp))
	d.line(middle)
	d.line(edge("└", "┬", "┘", linkDown))
}

// bus draws what joins all spines to all leaves.
func (d *drawing) bus(spines, leaves int, note string) {
	width := max(spines, leaves) * columnWidth
	bar := []rune(strings.Repeat(" ", width))
	for i := columnWidth / 2; i < width-columnWidth/2+1; i++ {
		bar[i-1] = '═'
	}
	for c := range max(spines, leaves) {
		at := c*columnWidth + columnWidth/2 - 1
		switch {
		case c < spines && c < leaves:
			bar[at] = '╪'
		case c < spines:
			bar[at] = '╧'
		case c < leaves:
			bar[at] = '╤'
		}
	}
	d.b.WriteString(strings.TrimRight(string(bar), " ") + "\n")
	d.b.WriteString(strings.Repeat(" ", columnWidth/2-1) + note + "\n")
}

func (d *drawing) hosts(f *topo.Fabric) {
	numbers := columns(f.Spec.Leaves, func(i int) string { return fmt.Sprint(i) })
	n := f.Spec.HostsPerLeaf
	for i := 1; i <= n; i++ {
		skipped := n > drawnHosts && i > drawnHosts-3 && i < n
		if skipped && i != drawnHosts-2 {
			continue
		}
		branch := "├"
		if i == n {
			branch = "└"
		}
		var l strings.Builder
		for _, number := range numbers {
			cell := ""
			switch {
			case number == "":
			case skipped:
				cell = "┊"
			default:
				cell = fmt.Sprintf("%s h%s-%d", branch, number, i)
			}
			l.WriteString(strings.Repeat(" ", columnWidth/2-1) + cell)
			l.WriteString(strings.Repeat(" ", max(0, columnWidth/2+1-utf8.RuneCountInString(cell))))
		}
		d.b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	indent := strings.Repeat(" ", columnWidth/2-1)
	fmt.Fprintf(&d.b, "%severy host to its leaf: %v, %v\n", indent, f.Spec.HostRate, f.Spec.HostDelay)
}

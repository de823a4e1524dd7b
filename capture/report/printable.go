package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text from outside for a line on a terminal: quoted if a
// character of it does not print, so that none of them can move the cursor or pass
// for a line of ours.
func Printable(s string) string {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable) {
		return s
	}
	return strconv.Quote(s)
}

// printable returns the table with texts that are Printable.
func (t Table) printable() Table {
	t.Title, t.Header = Printable(t.Title), printableAll(t.Header)
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = printableAll(row)
	}
	t.Rows = rows
	return t
}

func printableAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Printable(s)
	}
	return out
}

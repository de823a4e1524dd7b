package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// textColumns is the width of what is written for people.
const textColumns = 100

// text makes a help text out of one as it stands in the source: paragraphs with empty
// lines between them, in lines of any length, behind tabs. One whose lines are indented
// by spaces keeps them: it is of a file.
func text(s string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if lines := strings.Trim(paragraph, "\t"); strings.HasPrefix(lines, " ") {
			b.WriteString(strings.ReplaceAll(lines, "\t", "") + "\n")
			continue
		}
		wrapped(&b, "", "", strings.Join(strings.Fields(paragraph), " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// examples makes the examples of a help text out of lines as they stand in the
// source.
func examples(s string) string {
	var lines []string
	for line := range strings.Lines(strings.Trim(s, "\n")) {
		lines = append(lines, "  "+strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// wrapped writes a text in lines of up to textColumns, the first and the others
// with an indentation of their own.
func wrapped(w io.Writer, first, others, s string) {
	line := first
	for i, word := range strings.Split(s, " ") {
		switch {
		case i == 0:
			line += word
		case len(line)+1+len(word) > textColumns:
			fmt.Fprintln(w, line)
			line = others + word
		default:
			line += " " + word
		}
	}
	fmt.Fprintln(w, line)
}

// count returns a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// humanSize returns a number of bytes with three digits and a decimal unit: 31.6 MB.
func humanSize(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	size, unit := float64(bytes), ""
	for _, unit = range []string{"KB", "MB", "GB", "TB", "PB"} {
		if size /= 1000; size < 999.5 {
			break
		}
	}
	switch {
	case size < 9.995:
		return fmt.Sprintf("%.2f %s", size, unit)
	case size < 99.95:
		return fmt.Sprintf("%.1f %s", size, unit)
	}
	return fmt.Sprintf("%.0f %s", size, unit)
}

// printJSON prints a value as JSON with indentation.
func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

package scenarios

import (
	"fmt"
	"strings"

	"unicode"

	"github.com/goccy/go-yaml/token"

	"sirdbed/capture/report"
)

// An Error is something wrong in a scenario file, and where.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 where no line of the file is at fault
	Excerpt      string // that line of the file, or the part of it that is shown
	Message      string

	shift int // characters of the line before Excerpt
}

// Error prints the position as editors and terminals link it, what is wrong there,
// and the line itself.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	head := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	if e.Excerpt == "" {
		return head
	}
	gutter := fmt.Sprintf("%5d | ", e.Line)
	return fmt.Sprintf("%s\n%s%s\n%s| %s^", head, gutter, e.Excerpt,
		strings.Repeat(" ", len(gutter)-2), strings.Repeat(" ", max(0, e.Column-1-e.shift)))
}

// Errors is everything found wrong with a scenario file at once.
type Errors []*Error

func (es Errors) Error() string {
	text := make([]string, len(es))
	for i, e := range es {
		text[i] = e.Error()
	}
	return strings.Join(text, "\n")
}

// errorAt makes an Error about a token of the file.
func (s *source) errorAt(t *token.Token, format string, args ...any) *Error {
	e := &Error{File: report.Printable(s.file), Message: fmt.Sprintf(format, args...)}
	if t == nil || t.Position == nil {
		return e
	}
	if given, ok := s.set[t]; ok {
		e.File = report.Printable(given)
		return e
	}
	e.Line, e.Column = t.Position.Line, t.Position.Column
	if e.Line >= 1 && e.Line <= len(s.lines) {
		e.Excerpt, e.shift = window(s.lines[e.Line-1], e.Column)
	}
	return e
}

// maxExcerpt is how much of a line an error shows, in characters.
const maxExcerpt = 120

// window returns the part of a line around a column that fits on a terminal, and how
// many characters of the line come before it. What does not print is a blank: each
// counts as one column in the position and in the excerpt, tabs too.
func window(line string, column int) (text string, from int) {
	blank := func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}
	shown := []rune(strings.TrimRight(strings.Map(blank, line), " "))
	if len(shown) > maxExcerpt {
		from = max(0, min(column-maxExcerpt/2, len(shown)-maxExcerpt))
		shown = shown[from : from+maxExcerpt]
	}
	return string(shown), from
}

// errorIn makes an Error about what is at path. Where the file has nothing
// there it is about what the missing field belongs to, and names the field.
func (s *source) errorIn(path, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	at, found := s.find(path)
	if !found {
		message = path + ": " + message
	}
	return s.errorAt(at, "%s", message)
}

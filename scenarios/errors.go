package scenarios

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// An Error is something wrong in a scenario file, and where.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 where no line of the file is at fault
	Excerpt      string // that line of the file
	Message      string
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
		strings.Repeat(" ", len(gutter)-2), strings.Repeat(" ", max(0, e.Column-1)))
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
	e := &Error{File: s.file, Message: fmt.Sprintf(format, args...)}
	if t == nil || t.Position == nil {
		return e
	}
	if given, ok := s.set[t]; ok {
		e.File = given
		return e
	}
	e.Line, e.Column = t.Position.Line, t.Position.Column
	if e.Line >= 1 && e.Line <= len(s.lines) {
		// A tab counts as one column in the position and in the excerpt.
		e.Excerpt = strings.ReplaceAll(strings.TrimRight(s.lines[e.Line-1], "\r "), "\t", " ")
	}
	return e
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

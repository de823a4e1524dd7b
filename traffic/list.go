package traffic

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// A ListEntry is one message of a list, a row of its file.
type ListEntry struct {
	At    units.Time  `json:"at"` // from the stream's start
	Src   string      `json:"src"`
	Dst   string      `json:"dst"`
	Size  units.Bytes `json:"size"`
	Reply units.Bytes `json:"reply,omitempty"`
	Line  int         `json:"line,omitempty"` // in the file, 0 if there is none
}

// ReadFile reads the file of a list into Messages; other patterns need nothing. A
// relative path is taken from dir, the directory of the scenario file. The
// error is a *FieldError with the file and line.
func (s *Stream) ReadFile(dir string) error {
	if s.Pattern != PatternList {
		return nil
	}
	if s.File == "" {
		return fieldError("file", "missing: a list needs a CSV file with the columns time,src,dst,size[,reply]")
	}
	path := s.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	text, err := limit.ListFile.Read(path)
	if err != nil {
		return fieldError("file", "%v", err)
	}
	if s.Messages, err = ParseList(path, bytes.NewReader(text), s.Reply); err != nil {
		return fieldError("file", "%v", err)
	}
	return nil
}

// ParseList reads messages from a CSV file with the header
// time,src,dst,size[,reply]. Times and sizes have units ("7.5us", "10MB"), src
// and dst are host names. Rows may be in any order; lines that begin with #
// are comments. reply is the size of a message's reply where the file has
// none. name is what errors call the file, with the line: "flows.csv:7: ...".
func ParseList(name string, r io.Reader, reply units.Bytes) ([]ListEntry, error) {
	in := csv.NewReader(r)
	in.Comment = '#'
	in.TrimLeadingSpace = true
	in.ReuseRecord = true
	header, err := in.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: empty: want the header time,src,dst,size[,reply] and a row for each message", name)
	}
	if err != nil {
		return nil, csvError(name, err)
	}
	if err := tooLong(header); err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	if !slices.Equal(header, []string{"time", "src", "dst", "size"}) &&
		!slices.Equal(header, []string{"time", "src", "dst", "size", "reply"}) {
		line, _ := in.FieldPos(0)
		return nil, fmt.Errorf("%s:%d: header %.100q: want time,src,dst,size[,reply]", name, line,
			strings.Join(header, ","))
	}
	var list []ListEntry
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, csvError(name, err)
		}
		line, _ := in.FieldPos(0)
		if len(list) > MaxIndex {
			return nil, fmt.Errorf("%s:%d: more than %d messages", name, line, MaxIndex+1)
		}
		if err := tooLong(row); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		m, err := parseEntry(row, reply)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		m.Line = line
		list = append(list, m)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no messages below the header", name)
	}
	return list, nil
}

func parseEntry(row []string, reply units.Bytes) (m ListEntry, err error) {
	m = ListEntry{Src: strings.Clone(row[1]), Dst: strings.Clone(row[2]), Reply: reply}
	if m.At, err = units.ParseTime(row[0]); err != nil {
		return m, fmt.Errorf("time: %w", err)
	}
	if m.Size, err = units.ParseBytes(row[3]); err != nil {
		return m, fmt.Errorf("size: %w", err)
	}
	if len(row) > 4 && row[4] != "" {
		if m.Reply, err = units.ParseBytes(row[4]); err != nil {
			return m, fmt.Errorf("reply: %w", err)
		}
	}
	return m, m.check()
}

// What the fields of a row may hold.
var (
	rowTime, rowSize, rowReply = limit.ListRow.Of("time"), limit.ListRow.Of("size"), limit.ListRow.Of("reply")
	rowSrc, rowDst             = limit.ListRow.Of("src"), limit.ListRow.Of("dst")
)

// maxField is how long a field of a row may be.
const maxField = 100

// tooLong finds a field that is.
func tooLong(row []string) error {
	for i, field := range row {
		if len(field) > maxField {
			return fmt.Errorf("field %d has %d bytes: want at most %d", i+1, len(field), maxField)
		}
	}
	return nil
}

// check reports what is wrong with an entry on any fabric.
func (m *ListEntry) check() error {
	switch {
	case m.Src == "":
		return fmt.Errorf("src: missing: want the name of a host")
	case m.Dst == "":
		return fmt.Errorf("dst: missing: want the name of a host")
	case m.Src == m.Dst:
		return fmt.Errorf("dst: %s sends to itself", m.Src)
	}
	for _, field := range []struct {
		limit *limit.Limit
		value any
	}{{&rowTime, m.At}, {&rowSrc, m.Src}, {&rowDst, m.Dst}, {&rowSize, m.Size}, {&rowReply, m.Reply}} {
		if reason := field.limit.Reason(reflect.ValueOf(field.value)); reason != "" {
			return errors.New(reason)
		}
	}
	return nil
}

func (s *Stream) validateList(f *topo.Fabric) error {
	if len(s.Messages) == 0 {
		if s.File == "" {
			return fieldError("file", "missing: a list needs a CSV file with the columns time,src,dst,size[,reply]")
		}
		return fieldError("file", "%s has not been loaded", s.File)
	}
	if len(s.Messages) > MaxIndex+1 {
		return fieldError("file", "%d messages: at most %d can be told apart", len(s.Messages), MaxIndex+1)
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		err := m.check()
		for _, name := range []string{m.Src, m.Dst} {
			if _, ok := f.Host(name); !ok && err == nil {
				err = fmt.Errorf("%s", unknownHost(f, name))
			}
		}
		if err != nil {
			where := fmt.Sprintf("message %d", i+1)
			if m.Line > 0 {
				where = fmt.Sprintf("%s:%d", s.File, m.Line)
			}
			return fieldError("file", "%s: %v", where, err)
		}
	}
	return nil
}

// replay sends the messages of a list that begin at one host.
type replay struct {
	messages []listed // by time, ties in the order of the file
}

type listed struct {
	Arrival
	index int // in the file
}

func (s *Stream) replay(f *topo.Fabric, self topo.HostID) generator {
	name := f.HostName(self)
	g := &replay{}
	for i := range s.Messages {
		if m := &s.Messages[i]; m.Src == name {
			dst, _ := f.Host(m.Dst)
			g.messages = append(g.messages, listed{Arrival{At: s.Start + m.At, Dst: dst, Size: m.Size}, i})
		}
	}
	slices.SortStableFunc(g.messages, func(a, b listed) int { return cmp.Compare(a.At, b.At) })
	if len(g.messages) == 0 {
		return nil
	}
	return g
}

func (g *replay) at() units.Time {
	if len(g.messages) == 0 {
		return units.Never
	}
	return g.messages[0].At
}

func (g *replay) pop() (Arrival, int) {
	m := g.messages[0]
	g.messages = g.messages[1:]
	return m.Arrival, m.index
}

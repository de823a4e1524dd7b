package record

import (
	"errors"
	"io"
)

// A Tail reads a log that is still being written: what has been appended since it last
// looked. It is for one goroutine.
type Tail struct {
	from io.Reader
	buf  []byte // read and not yet taken apart: less than a record
	head bool   // the magic number has been seen
	err  error
}

// NewTail follows a log from its beginning. from returns io.EOF at the present end of the
// log, and more once there is more, as a file does.
func NewTail(from io.Reader) *Tail { return &Tail{from: from} }

// tailChunk is how much is read at once.
const tailChunk = 64 << 10

// Next calls take for every whole record that has come since the last call, of up to
// about limit bytes, and returns how many bytes it read. A record of which a part is there
// is left for the next call. The error of a log that is damaged sticks.
func (t *Tail) Next(limit int, take func(Record)) (n int, err error) {
	for n < limit && t.err == nil {
		old := len(t.buf)
		t.buf = append(t.buf, make([]byte, tailChunk)...)
		got, err := t.from.Read(t.buf[old:])
		t.buf = t.buf[:old+got]
		n += got
		t.takeApart(take)
		if err != nil && !errors.Is(err, io.EOF) {
			t.err = err
		}
		if err != nil || got == 0 {
			break
		}
	}
	return n, t.err
}

// takeApart takes the whole records out of what was read.
func (t *Tail) takeApart(take func(Record)) {
	rest := t.buf
	if !t.head {
		if len(rest) < len(magic) {
			return
		}
		if string(rest[:len(magic)]) != magic {
			t.err = errNoLog
			return
		}
		t.head, rest = true, rest[len(magic):]
	}
	for len(rest) >= recordSize {
		r, n, ok := parse((*[recordSize]byte)(rest))
		if !ok {
			t.err = errors.New("a record is damaged")
			break
		}
		if len(rest) < recordSize+n {
			break
		}
		r.Text = string(rest[recordSize : recordSize+n])
		rest = rest[recordSize+n:]
		take(r)
	}
	t.buf = append(t.buf[:0], rest...)
}

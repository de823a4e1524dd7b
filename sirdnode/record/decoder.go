package record

import (
	"bytes"
	"errors"
	"fmt"
)

// A Decoder reads a log as it is written, in parts of any size. It is for one goroutine.
type Decoder struct {
	rest  []byte // of a record whose end has not come
	begun bool   // the magic number has come
	count int
	now   Record // the one that a call is about
}

var errDamaged = errors.New("log is damaged")

// Decode calls each with the records that end in the next part of the log, valid during
// the call. After an error there are no more.
func (d *Decoder) Decode(part []byte, each func(*Record)) error {
	if len(d.rest) > 0 {
		part = append(d.rest, part...)
	}
	if !d.begun && len(part) >= len(magic) {
		if !bytes.HasPrefix(part, []byte(magic)) {
			return errNoLog
		}
		part, d.begun = part[len(magic):], true
	}
	for d.begun && len(part) >= recordSize {
		r, n, ok := parse((*[recordSize]byte)(part))
		if d.now = r; !ok {
			return fmt.Errorf("%w: record %d", errDamaged, d.count)
		}
		if n += recordSize; len(part) < n {
			break
		}
		if n > recordSize {
			d.now.Text = string(part[recordSize:n])
		}
		part = part[n:]
		d.count++
		each(&d.now)
	}
	d.rest = append(d.rest[:0], part...)
	return nil
}

// Whole reports whether what was decoded ends with a record, not within one.
func (d *Decoder) Whole() bool { return d.begun && len(d.rest) == 0 }

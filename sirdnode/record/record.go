// Package record is the raw log of a run: what host processes and queue
// samplers write while it goes on, and what the statistics are computed from
// when it has ended, however it ended.
//
// A log is a magic number and records of 32 bytes, some followed by a text. It
// is only ever appended to, in whole batches, so a killed writer or a full disk
// costs at most the last batch: a reader takes what is there and reports that
// the log was cut.
package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"sirdbed/topo/units"
)

// Kind is what a record is about, and so what its fields mean.
type Kind uint8

// The kinds of record. Peer is a host's HostID unless noted otherwise.
const (
	// Offered: at its sender, message ID to Peer with Tag and size N arrived
	// from the application at nominal time At.
	Offered Kind = 1 + iota
	// Delivered: at its receiver, all of message ID from Peer had arrived at At.
	Delivered
	// Acked: the sender learned at At that message ID to Peer is delivered.
	Acked
	// Failed: the sender gave up message ID to Peer at At; Text is the reason.
	Failed
	// GaugeName: gauge number Peer of this log is called Text.
	GaugeName
	// Gauge: gauge number Peer had the value Float() at At.
	Gauge
	// Queue: N bytes in ID packets waited at port number Peer at At. Written
	// when they differ from that port's last record; before the first one a
	// port's queue is empty. Tag is for how many ns at most the reading went on
	// from At.
	Queue
	// Tick: all ports were sampled, from At until N or, where N is less, at once.
	Tick
	// Counter: a count called Text ended at N.
	Counter
	// Note: Text is for people, such as the reason for an early end.
	Note
	// End: the writer finished in good order at At.
	End
	// Sent: N wire bytes had left port number Peer by At. Results have the totals of
	// ports; this is for a picture of the run while it goes on.
	Sent
	// Killed: the host's life ended at At, and its transport's state with it. Messages of its
	// own that were not settled have failed.
	Killed
	// Restarted: the host began its life number N at At. It numbers messages from 0 again.
	Restarted

	lastKind = Restarted
)

// SentEvery is how much nominal time lies between two Sent records of a port, in a run
// whose traffic ends at to: a picture of the run has about as many columns.
func SentEvery(to units.Time) units.Time { return max(1, to/250) }

// A Record is one record of a log.
type Record struct {
	Kind Kind
	Peer uint16
	ID   uint32
	Tag  uint32
	At   units.Time
	N    int64 // bytes; of a Gauge the bits of a float64
	Text string
}

// Float is the value of a Gauge.
func (r *Record) Float() float64 { return math.Float64frombits(uint64(r.N)) }

const (
	magic      = "sirdbed record 1\n"
	recordSize = 32
	maxText    = 1 << 14
)

// A Writer appends records. It is for one goroutine. The first error sticks and
// is what every later call returns.
type Writer struct {
	w    io.Writer
	buf  []byte
	wErr error
}

// flushAt is the size of a batch. At a record per message and some gauges, a
// host fills one about every second.
const flushAt = 32 << 10

// NewWriter begins a log.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, buf: append(make([]byte, 0, flushAt+recordSize+maxText), magic...)}
}

// Put appends a record. It is written with its batch; see Flush.
func (w *Writer) Put(r Record) error {
	text := r.Text[:min(len(r.Text), maxText)]
	w.buf = append(w.buf, byte(r.Kind), 0)
	w.buf = binary.LittleEndian.AppendUint16(w.buf, r.Peer)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, r.ID)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, r.Tag)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(len(text)))
	w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(r.At))
	w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(r.N))
	w.buf = append(w.buf, text...)
	if len(w.buf) >= flushAt {
		return w.Flush()
	}
	return w.wErr
}

// PutGauge appends a Gauge record.
func (w *Writer) PutGauge(at units.Time, number int, value float64) error {
	return w.Put(Record{Kind: Gauge, At: at, Peer: uint16(number), N: int64(math.Float64bits(value))})
}

// Flush hands the batch to the underlying writer.
func (w *Writer) Flush() error {
	if w.wErr == nil && len(w.buf) > 0 {
		_, w.wErr = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
	return w.wErr
}

// ErrCut is wrapped by the error of a log that ends in the middle of a record
// or without one of kind End. What came before is good.
var ErrCut = errors.New("log was cut off")

var errNoLog = errors.New("not a sirdbed record log")

// Read yields the records of a log. A last pair with an error ends it if the
// log could not be read to its end; the error wraps ErrCut when the writer was
// stopped.
func Read(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := bufio.NewReaderSize(r, 256<<10)
		head := make([]byte, len(magic))
		if n, err := io.ReadFull(in, head); err != nil && n == 0 {
			yield(Record{}, fmt.Errorf("%w before its first record", ErrCut))
			return
		} else if err != nil || string(head) != magic {
			yield(Record{}, errNoLog)
			return
		}
		var b [recordSize]byte
		ended := false
		for count := 0; ; count++ {
			if _, err := io.ReadFull(in, b[:]); err == io.EOF && ended {
				return
			} else if err == io.EOF || err == io.ErrUnexpectedEOF {
				yield(Record{}, fmt.Errorf("%w after %d records", ErrCut, count))
				return
			} else if err != nil {
				yield(Record{}, err)
				return
			}
			rec, n, ok := parse(&b)
			if !ok {
				yield(Record{}, fmt.Errorf("record %d is damaged", count))
				return
			} else if n > 0 {
				text := make([]byte, n)
				if _, err := io.ReadFull(in, text); err != nil {
					yield(Record{}, fmt.Errorf("%w after %d records", ErrCut, count))
					return
				}
				rec.Text = string(text)
			}
			ended = rec.Kind == End
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// parse reads a record but for its text, which has n bytes. It reports whether there
// can be such a record.
func parse(b *[recordSize]byte) (r Record, n int, ok bool) {
	text := binary.LittleEndian.Uint32(b[12:])
	r = Record{
		Kind: Kind(b[0]),
		Peer: binary.LittleEndian.Uint16(b[2:]),
		ID:   binary.LittleEndian.Uint32(b[4:]),
		Tag:  binary.LittleEndian.Uint32(b[8:]),
		At:   units.Time(binary.LittleEndian.Uint64(b[16:])),
		N:    int64(binary.LittleEndian.Uint64(b[24:])),
	}
	return r, int(min(text, maxText)), text <= maxText && r.Kind != 0 && r.Kind <= lastKind
}

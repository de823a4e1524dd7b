//go:build linux

package virtual

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"os"
	"slices"

	"sirdbed/sirdnode/record"
)

// A queueLog is a guest's log of queues, sample by sample: records of queues, a tick, and
// now and then what ports have sent.
type queueLog struct {
	file *os.File
	next func() (record.Record, error, bool)
	stop func()
	peek *record.Record // read, and not taken
	end  *record.Record // the last one, nil in a log that was cut
}

// A queueSample is one of them. sent has what follows the tick.
type queueSample struct {
	queues []record.Record
	tick   record.Record
	sent   []record.Record
}

func openQueueLog(file *os.File) *queueLog {
	l := &queueLog{file: file}
	l.next, l.stop = iter.Pull2(record.Read(file))
	return l
}

func (l *queueLog) close() {
	l.stop()
	l.file.Close()
}

// read returns the next record; io.EOF at the end, also of a log that was cut.
func (l *queueLog) read() (record.Record, error) {
	if r := l.peek; r != nil {
		l.peek = nil
		return *r, nil
	}
	r, err, ok := l.next()
	switch {
	case !ok || errors.Is(err, record.ErrCut):
		return r, io.EOF
	case err == nil && r.Kind == record.End:
		l.end = &r
		return r, io.EOF
	}
	return r, err
}

// sample returns the next sample; io.EOF where there is no whole one.
func (l *queueLog) sample() (s queueSample, err error) {
	for ticked := false; ; {
		r, err := l.read()
		switch {
		case err == io.EOF && ticked:
			return s, nil
		case err != nil:
			return s, err
		case ticked && r.Kind == record.Sent:
			s.sent = append(s.sent, r)
		case ticked:
			l.peek = &r
			return s, nil
		case r.Kind == record.Tick:
			s.tick, ticked = r, true
		default:
			s.queues = append(s.queues, r)
		}
	}
}

// joinQueues writes the samples that all logs have as one log, which ends if all do. A tick
// lasts from the first guest's reading to the last one's.
func joinQueues(logs []*queueLog, to io.Writer) error {
	w := record.NewWriter(to)
	for {
		joined, err := joinSample(logs)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for _, r := range slices.Concat(joined.queues, []record.Record{joined.tick}, joined.sent) {
			w.Put(r)
		}
	}
	var end *record.Record
	for _, l := range logs {
		for l.end == nil {
			if _, err := l.read(); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
		}
		if l.end == nil {
			return w.Flush()
		}
		if end == nil || l.end.At > end.At {
			end = l.end
		}
	}
	w.Put(*end)
	return w.Flush()
}

// joinSample returns the next sample of all logs as one; io.EOF if one of them has none. Ports
// are in the order of a log by one guest, each once: the first log may be all of them joined
// already, by who was killed then.
func joinSample(logs []*queueLog) (joined queueSample, err error) {
	for i, l := range logs {
		s, e := l.sample()
		if e != nil && (err == nil || e != io.EOF) {
			err = e
		}
		if i == 0 {
			joined.tick = s.tick
		}
		joined.tick.At, joined.tick.N = min(joined.tick.At, s.tick.At), max(joined.tick.N, s.tick.N)
		joined.queues, joined.sent = append(joined.queues, s.queues...), append(joined.sent, s.sent...)
	}
	byPort := func(a, b record.Record) int { return cmp.Compare(a.Peer, b.Peer) }
	slices.SortStableFunc(joined.queues, byPort)
	slices.SortStableFunc(joined.sent, byPort)
	same := func(a, b record.Record) bool { return a.Peer == b.Peer }
	joined.queues, joined.sent = slices.CompactFunc(joined.queues, same), slices.CompactFunc(joined.sent, same)
	return joined, err
}

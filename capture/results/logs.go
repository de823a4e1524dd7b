package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Problem is something wrong with a run's logs, or with what they say.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Text string      `json:"text"`
}

// ProblemKind tells problems apart for the verdict.
type ProblemKind string

// The kinds of problem.
const (
	HostLogCut  ProblemKind = "host log"  // missing, cut off or damaged
	QueueLogCut ProblemKind = "queue log" // the same
	CaptureCut  ProblemKind = "capture"   // the same, or no match for its node
	FactsLost   ProblemKind = "facts"     // no facts.json
	Integrity   ProblemKind = "integrity" // messages delivered twice, never offered, or with wrong bytes
	Note        ProblemKind = "note"      // nothing wrong: a remark by who wrote the log
)

// rawLogs is what a variant's directory holds.
type rawLogs struct {
	x        emu.Experiment
	fabric   *topo.Fabric
	facts    *emu.Facts
	hosts    []hostLog // by HostID
	queues   QueueLog
	problems []Problem
}

type hostLog struct {
	messages []record.Record // Offered, Delivered, Acked and Failed, in order, and Restarted
	gauges   []Series
	counters map[string]int64
	present  bool
	complete bool
	end      units.Time // of the last record
}

// maxProblems is how many problems of a kind are listed one by one.
const maxProblems = 50

func (l *rawLogs) problem(kind ProblemKind, format string, args ...any) {
	same := 0
	for _, p := range l.problems {
		if p.Kind == kind {
			same++
		}
	}
	if same == maxProblems {
		l.problems = append(l.problems, Problem{kind, "and more of the kind"})
	}
	if same >= maxProblems {
		return
	}
	l.problems = append(l.problems, Problem{kind, fmt.Sprintf(format, args...)})
}

// readLogs reads a variant's directory. Only an experiment that can't be read
// is an error; anything else that is missing is a problem.
func readLogs(dir emu.RunDir) (*rawLogs, error) {
	l := &rawLogs{}
	if err := readJSON(dir, emu.ExperimentFile, &l.x); err != nil {
		return nil, err
	}
	var err error
	if l.fabric, err = topo.New(l.x.Topology); err != nil {
		return nil, fmt.Errorf("%s: topology.%w", dir.At(emu.ExperimentFile), err)
	}
	for _, t := range []units.Time{l.x.Warmup, l.x.Duration, l.x.Drain} {
		if t < 0 || t > capture.MaxTime/4 {
			return nil, fmt.Errorf("%s is damaged: a time of %v", dir.At(emu.ExperimentFile), t)
		}
	}
	facts := &emu.Facts{}
	err = readJSON(dir, emu.FactsFile, facts)
	if err == nil && (facts.Reached < -capture.MaxTime || facts.Reached > capture.MaxTime) {
		err = fmt.Errorf("%s is damaged: it ended at %v", dir.At(emu.FactsFile), facts.Reached)
	}
	if err == nil {
		l.facts = facts
		l.sampledAs(facts)
	} else if errors.Is(err, fs.ErrNotExist) {
		l.problem(FactsLost, "facts.json is missing: "+
			"the run was killed, or its disk full, before it could say what it ran on")
	} else {
		l.problem(FactsLost, "%v", err)
	}
	l.hosts = make([]hostLog, len(l.fabric.Hosts))
	for h := range l.hosts {
		l.readHost(dir, topo.HostID(h))
	}
	l.readQueues(dir)
	return l, nil
}

// maxBytes is beyond all sizes of messages and queues.
const maxBytes = 1 << 40

// plausible ends a log with an error where a record says what no run can have logged:
// figures are not computed from it, nor the rest.
func plausible(log iter.Seq2[record.Record, error]) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for r, err := range log {
			sized := false
			switch r.Kind {
			case record.Offered, record.Delivered, record.Acked, record.Failed, record.Queue:
				sized = true
			}
			switch {
			case err != nil:
			case r.At < -capture.MaxTime || r.At > capture.MaxTime:
				err = fmt.Errorf("log is damaged: a record of %v", r.At)
			case sized && (r.N < 0 || r.N >= maxBytes):
				err = fmt.Errorf("log is damaged: a record of %d bytes", r.N)
			case r.Kind == record.Tick && (r.N < -int64(capture.MaxTime) || r.N > int64(capture.MaxTime)):
				err = fmt.Errorf("log is damaged: a sample until %v", units.Time(r.N))
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func readJSON(dir emu.RunDir, name string, into any) error {
	data, err := dir.Read(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", dir.At(name), err)
	}
	return nil
}

// isOpaque reports whether a host is a device on which no process has a log.
func (l *rawLogs) isOpaque(h topo.HostID) bool { return l.x.Opaque(l.fabric.HostName(h)) }

// clockError is what the log of a host may be off by.
func (l *rawLogs) clockError(h topo.HostID) units.Time {
	if l.facts == nil {
		return 0
	}
	return l.facts.ClockError(l.fabric.HostName(h))
}

func (l *rawLogs) readHost(dir emu.RunDir, h topo.HostID) {
	name := l.fabric.HostName(h)
	log := &l.hosts[h]
	log.counters = map[string]int64{}
	if l.isOpaque(h) {
		return
	}
	file, err := dir.Open(emu.HostLog(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the log of %s is missing", name)
	}
	if err != nil {
		l.problem(HostLogCut, "%v", err)
		return
	}
	defer file.Close()
	log.present = true
	gauges := map[uint16]int{} // by number in this life of the host
	for r, err := range plausible(record.Read(file)) {
		if err != nil {
			l.problem(HostLogCut, "%s: %v", name, err)
			return
		}
		switch r.Kind {
		case record.Offered, record.Delivered, record.Acked, record.Failed:
			if int(r.Peer) >= len(l.fabric.Hosts) {
				l.problem(Integrity, "%s logged a message of host number %d, and there are %d hosts", name, r.Peer,
					len(l.fabric.Hosts))
				continue
			}
			log.messages = append(log.messages, r)
		case record.GaugeName:
			gauges[r.Peer] = log.gauge(h, r.Text)
		case record.Gauge:
			if i, ok := gauges[r.Peer]; ok {
				g := &log.gauges[i]
				g.Points = append(g.Points, GaugePoint{r.At, r.Float()})
			}
		case record.Restarted:
			log.messages = append(log.messages, r)
		case record.Counter:
			log.counters[r.Text] += r.N
		case record.Note:
			l.problem(Note, "%s: %s", name, r.Text)
		case record.End:
			log.complete = true
		}
		log.end = max(log.end, r.At)
	}
}

// gauge returns the index of a gauge's series. A host that has restarted numbers its gauges
// anew.
func (log *hostLog) gauge(h topo.HostID, name string) int {
	i := slices.IndexFunc(log.gauges, func(s Series) bool { return s.Gauge == name })
	if i < 0 {
		i = len(log.gauges)
		log.gauges = append(log.gauges, Series{Host: h, Gauge: name})
	}
	return i
}

// sampledAs takes over the intervals of gauges and queues that the run had.
func (l *rawLogs) sampledAs(f *emu.Facts) {
	in := func(every units.Time) units.Time { return min(every, capture.MaxTime) }
	l.x.GaugeEvery, l.x.QueueEvery = max(l.x.GaugeEvery, in(f.GaugeEvery)), max(l.x.QueueEvery, in(f.QueueEvery))
}

func (l *rawLogs) readQueues(dir emu.RunDir) {
	q := &l.queues
	q.Ports = make([][]QueueSample, len(l.fabric.Ports))
	file, err := dir.Open(emu.QueueLog)
	if errors.Is(err, fs.ErrNotExist) {
		if l.x.QueueEvery > 0 {
			l.problem(QueueLogCut, "the log of queues is missing")
		}
		return
	}
	if err != nil {
		l.problem(QueueLogCut, "%v", err)
		return
	}
	defer file.Close()
	var swept units.Time // when the latest sample was read
	for r, err := range plausible(record.Read(file)) {
		if err != nil {
			l.problem(QueueLogCut, "queues: %v", err)
			break
		}
		switch r.Kind {
		case record.Queue:
			if int(r.Peer) >= len(q.Ports) {
				l.problem(QueueLogCut, "queues: a sample of port number %d, and there are %d ports", r.Peer,
					len(q.Ports))
				continue
			}
			q.Ports[r.Peer] = append(q.Ports[r.Peer],
				QueueSample{r.At, r.At + units.Time(r.Tag), r.N, int64(r.ID), len(q.Ticks)})
			swept = max(swept, r.At+units.Time(r.Tag))
		case record.Tick:
			at := r.At
			if n := len(q.Ticks); n > 0 && at < q.Ticks[n-1] {
				l.problem(QueueLogCut, "queues: time goes back from %v to %v", q.Ticks[n-1], at)
				at = q.Ticks[n-1]
			}
			swept = max(swept, at, units.Time(r.N))
			q.Ticks, q.swept = append(q.Ticks, at), append(q.swept, swept)
		case record.Note:
			l.problem(Note, "queues: %s", r.Text)
		}
	}
}

package results

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"

	"sirdbed/capture/stats"
	"sirdbed/emu"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
)

// A Fold computes a variant's results from its raw logs as they are written, in memory
// that does not grow with the run: a message is forgotten when its sender and its receiver
// have said what became of it. Percentiles are those of logarithmic histograms, to within
// 0.1 %, which Analyze has exactly, and so have series over time, single messages and
// captures, which a Fold has not.
//
// It is for one goroutine.
type Fold struct {
	l       *rawLogs
	opt     Options
	framing *topo.Framing
	toAck   bool
	open    map[foldKey]*folded // messages that are not settled
	free    []*folded
	tally   *tally
	count   int // of messages
	fastest map[fastestKey]Message
	queues  *queueFold
	gauges  *gaugeFold
	course  *course
	offered float64 // bytes that an unloaded fabric would have received in the window
	sums    []hash.Hash
}

// ErrNotFolded is matched by the error of an experiment that cannot be folded.
var ErrNotFolded = errors.New("cannot be folded")

// NewFold prepares for an experiment's logs. One with programs, devices or captures, and
// one whose hosts are restarted, matches ErrNotFolded: Analyze is for these.
func NewFold(x *emu.Experiment, opt Options) (*Fold, error) {
	switch {
	case len(x.Apps) > 0 || x.Up:
		return nil, fmt.Errorf("an experiment with programs %w", ErrNotFolded)
	case len(x.Hosts) > 0:
		return nil, fmt.Errorf("an experiment with devices %w", ErrNotFolded)
	case len(x.Capture) > 0:
		return nil, fmt.Errorf("an experiment with captures %w", ErrNotFolded)
	case slices.ContainsFunc(x.Timeline, func(e fault.Event) bool { return e.Do == fault.Kill }):
		return nil, fmt.Errorf("an experiment that kills hosts %w", ErrNotFolded)
	}
	fabric, err := topo.New(x.Topology)
	if err != nil {
		return nil, err
	}
	l := &rawLogs{x: *x, fabric: fabric, hosts: make([]hostLog, len(fabric.Hosts))}
	for h := range l.hosts {
		l.hosts[h].counters = map[string]int64{}
	}
	l.queues.Ports = make([][]QueueSample, len(fabric.Ports))
	f := &Fold{
		l: l, opt: opt, framing: l.framing(opt), open: map[foldKey]*folded{}, fastest: map[fastestKey]Message{},
		tally:  l.newTally(DefaultBorders, func() sampler { return &binned{} }),
		course: newCourse(x, fabric), sums: make([]hash.Hash, len(fabric.Hosts)+1),
	}
	f.toAck = f.framing != nil && opt.ToAck != nil && opt.ToAck(x.Protocol)
	f.queues, f.gauges = newQueueFold(l, f.course), newGaugeFold(x, f.course)
	for i := range f.sums {
		f.sums[i] = sha256.New()
	}
	return f, nil
}

// binned are the samples of a Fold.
type binned struct{ stats.Histogram }

func (b *binned) add(value float64) { b.Add(value, 1) }

// Create returns what a log is written to, by its name in a RunDir. Closing it ends the
// log.
func (f *Fold) Create(name string) (io.WriteCloser, error) {
	if name == emu.QueueLog {
		return &foldedLog{f: f, sum: f.sums[len(f.l.hosts)], cut: QueueLogCut, name: "queues", take: f.queues.take}, nil
	}
	for h := range f.l.hosts {
		host := f.l.fabric.HostName(topo.HostID(h))
		if name == emu.HostLog(host) {
			f.l.hosts[h].present = true
			return &foldedLog{
				f: f, sum: f.sums[h], cut: HostLogCut, name: host,
				take: func(r *record.Record) { f.take(topo.HostID(h), r) },
			}, nil
		}
	}
	return nil, fmt.Errorf("%s is no log that can be folded", name)
}

// ReadFiles takes the logs that a run has left in its directory. One that is missing is a
// problem of the Variant.
func (f *Fold) ReadFiles(dir emu.RunDir) error {
	names := []string{emu.QueueLog}
	for h := range f.l.hosts {
		names = append(names, emu.HostLog(f.l.fabric.HostName(topo.HostID(h))))
	}
	for _, name := range names {
		log, err := f.Create(name)
		if err != nil {
			return err
		}
		file, err := dir.Open(name)
		if err == nil {
			_, err = io.Copy(log, file)
			file.Close()
		}
		if err := log.Close(); err != nil {
			return err
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Unbounded says that a switch's queue has grown without bound, and how far; "": none has.
// It may be asked while the run goes on.
func (f *Fold) Unbounded() string { return f.course.unbounded(f.l.fabric) }

// A foldedLog is a log on its way into a Fold.
type foldedLog struct {
	f     *Fold
	sum   hash.Hash
	cut   ProblemKind
	name  string
	take  func(*record.Record)
	in    record.Decoder
	ended bool
	err   error
}

func (g *foldedLog) Write(b []byte) (int, error) {
	if g.err == nil {
		g.sum.Write(b)
		g.err = g.in.Decode(b, func(r *record.Record) {
			g.ended = r.Kind == record.End
			g.take(r)
		})
	}
	return len(b), g.err
}

func (g *foldedLog) Close() error {
	switch {
	case g.err != nil:
		g.f.l.problem(g.cut, "%s: %v", g.name, g.err)
	case !g.ended || !g.in.Whole():
		g.f.l.problem(g.cut, "%s: %v", g.name, record.ErrCut)
	}
	return nil
}

// take takes a record of a host's log.
func (f *Fold) take(h topo.HostID, r *record.Record) {
	log := &f.l.hosts[h]
	switch r.Kind {
	case record.Offered, record.Delivered, record.Acked, record.Failed:
		f.happened(h, r)
	case record.GaugeName:
		f.gauges.name(h, r.Peer, r.Text)
	case record.Gauge:
		f.gauges.take(h, r)
		if f.gauges.isPayload(h, r.Peer) {
			f.course.received(h, r.At, r.Float())
		}
	case record.Counter:
		log.counters[r.Text] += r.N
	case record.Note:
		f.l.problem(Note, "%s: %s", f.l.fabric.HostName(h), r.Text)
	case record.End:
		log.complete = true
	}
	log.end = max(log.end, r.At)
}

// Variant ends the fold. What it returns has no Messages but the fastest, no Queues and no
// Gauges; Course and Curves are its own.
func (f *Fold) Variant(facts *emu.Facts) *Variant {
	l := f.l
	l.facts = facts
	v := &Variant{
		Name: l.x.Variant, Protocol: l.x.Protocol, Experiment: l.x, Facts: facts, Fabric: l.fabric,
		Borders: DefaultBorders, Counters: map[string]int64{}, Folded: true, logs: l,
	}
	v.From, v.To = l.x.Window()
	if v.End = l.end(); v.End < v.To {
		v.To = max(v.From, v.End)
	}
	for h := range l.hosts {
		for name, n := range l.hosts[h].counters {
			v.Counters[name] += n
		}
	}
	f.settleAll(v.End)
	v.Messages, v.MessageCount = f.fastestMessages(), f.count
	v.Latencies = f.tally.latencies(v.To - v.From)
	v.Goodput = l.goodput(nil, v.From, v.To)
	v.OfferedGbps = Gbps(f.offered, v.To-v.From) / float64(len(l.hosts))
	v.Queue = f.queues.result(v.To)
	v.Queues = l.queues
	v.gaugeMeans = f.gauges.result()
	v.Course = f.course.result(v.To)
	v.Stability = l.growth(f.course, v.Course)
	v.Curves = f.curves()
	if facts != nil {
		v.Conservation = v.conservation()
	}
	v.Problems = l.problems
	v.Digest = f.digest()
	return v
}

// digest is of the logs as they were written: not the one that Analyze has, but as good
// for telling runs apart.
func (f *Fold) digest() string {
	all := sha256.New()
	text(all, f.l.x.Variant)
	text(all, f.l.x.Protocol)
	for _, s := range f.sums {
		all.Write(s.Sum(nil))
	}
	return hex.EncodeToString(all.Sum(nil))
}

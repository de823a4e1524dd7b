package results

import (
	"fmt"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Options change what Analyze computes. The zero value has the defaults.
type Options struct {
	// Framing returns how a protocol cuts messages into packets of up to mtu bytes,
	// for the exact unloaded latency. Without it there is no slowdown by that
	// definition.
	Framing func(protocol string, mtu units.Bytes) (topo.Framing, error)
	// ToAck reports whether a protocol's slowdown is also wanted until the sender knows
	// of the delivery. Without it, it is of none.
	ToAck func(protocol string) bool
	// SampleTolerance is how far beyond the time during which a queue was read
	// its depth may have been seen, when samples are compared with a capture.
	SampleTolerance units.Time
}

// Analyze computes the results of the variant whose raw logs are in dir, all but
// its Verdict. It fails only if the experiment itself cannot be read: logs that are
// cut or missing are named in Problems.
func Analyze(dir emu.RunDir, opt Options) (*Variant, error) {
	l, err := readLogs(dir)
	if err != nil {
		return nil, err
	}
	v := &Variant{
		Name: l.x.Variant, Protocol: l.x.Protocol, Experiment: l.x, Facts: l.facts, Fabric: l.fabric,
		Borders: DefaultBorders,
		Queues:  l.queues, Counters: map[string]int64{}, logs: l,
	}
	v.From, v.To = l.x.Window()
	v.End = l.end()
	if v.End < v.To {
		v.To = max(v.From, v.End)
	}
	for h := range l.hosts {
		for _, g := range l.hosts[h].gauges {
			if g.Gauge != "" {
				v.Gauges = append(v.Gauges, g)
			}
		}
		for name, n := range l.hosts[h].counters {
			v.Counters[name] += n
		}
	}
	v.Messages = l.join()
	fr := l.framing(opt)
	l.complete(v.Messages, fr, v.End)
	if fr != nil && opt.ToAck != nil && opt.ToAck(l.x.Protocol) {
		for i := range v.Messages {
			v.Messages[i].addUnloadedToAck(l.fabric, *fr)
		}
	}
	v.MessageCount = len(v.Messages)
	v.OfferedGbps = offeredGbps(v.Messages, v.From, v.To, len(l.hosts))
	v.Latencies = l.latencies(v.Messages, v.Borders, v.To-v.From)
	v.Goodput = l.goodput(v.Messages, v.From, v.To)
	v.Queue = l.queues.Result(l.fabric, v.From, v.To)
	v.Stability = l.stability(v.Messages, fr, v.From, v.To)
	v.readCaptures(dir, opt)
	if v.Facts != nil {
		v.Conservation = v.conservation()
	}
	v.Problems = l.problems
	v.Digest = v.digest()
	return v, nil
}

// end is when the run ended: as the engine says, or else the latest record.
func (l *rawLogs) end() units.Time {
	if l.facts != nil && l.facts.Reached > 0 {
		return l.facts.Reached
	}
	var end units.Time
	for h := range l.hosts {
		end = max(end, l.hosts[h].end)
	}
	if n := len(l.queues.Ticks); n > 0 {
		end = max(end, l.queues.Ticks[n-1])
	}
	return min(end, l.x.End())
}

// framing is how the run's protocol cuts messages into packets, nil if that is
// not known.
func (l *rawLogs) framing(opt Options) *topo.Framing {
	if opt.Framing == nil {
		return nil
	}
	fr, err := opt.Framing(l.x.Protocol, l.fabric.Spec.MTU)
	if err == nil && fr.MSS <= 0 {
		err = fmt.Errorf("an MTU of %v leaves no room for payload", l.fabric.Spec.MTU)
	}
	if err != nil {
		l.problem(Note, "no slowdown by the exact definition: %v", err)
		return nil
	}
	return &fr
}

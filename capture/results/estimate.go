package results

import (
	"math/rand/v2"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An Estimate is about how much disk the result of an experiment takes, by what
// fills it.
type Estimate struct {
	Messages units.Bytes
	Gauges   units.Bytes // samples of the protocol's gauges
	Queues   units.Bytes // samples of the ports' queues
	Captures units.Bytes
	Page     units.Bytes // with its plots, summary and manifest
}

// Total returns all of it.
func (e Estimate) Total() units.Bytes { return e.Messages + e.Gauges + e.Queues + e.Captures + e.Page }

// Add adds the estimate of another experiment of the same result.
func (e Estimate) Add(o Estimate) Estimate {
	return Estimate{e.Messages + o.Messages, e.Gauges + o.Gauges, e.Queues + o.Queues, e.Captures + o.Captures, e.Page +
		o.Page}
}

// What things take, as measured over results of the scenarios in the program.
const (
	// A message is offered, delivered and acknowledged: three records of 32
	// bytes, and about 34 bytes of messages.parquet.
	messageSize units.Bytes = 3*32 + 34
	// A sample of a gauge is a record, and about 3 bytes of series.parquet. For
	// each three gauges that a host has from the start it gets about one more, of
	// a peer that it meets.
	gaugeSize units.Bytes = (32 + 3) * 4 / 3
	// A tick of the queue log is a record. A third of a fabric's ports, if it is
	// busy, has changed by then: a record each, and 6 bytes of queues.parquet.
	tickSize   units.Bytes = 32
	changeSize units.Bytes = 32 + 6
	// A captured packet is a pcapng block beside its bytes. As many packets as
	// carry payload carry none, but credit, grants or acknowledgements, in about
	// as many bytes as the least frame has.
	blockSize   units.Bytes = 32
	controlSize units.Bytes = 64
	// What every variant adds to the page, its plots, the summary and the manifest.
	pageSize units.Bytes = 150_000
)

// EstimateSize returns about how much disk the result of x takes. Runs that
// overload the fabric or end early take less; most others come within a factor
// of two. It fails where x has no fabric, protocol or traffic that can be.
func EstimateSize(x *emu.Experiment) (e Estimate, err error) {
	f, err := topo.New(x.Topology)
	if err != nil {
		return e, err
	}
	p, err := all.Find(x.Protocol)
	if err != nil {
		return e, err
	}
	flows, err := newFlows(f, x)
	if err != nil {
		return e, err
	}
	e.Page = pageSize
	e.Messages = units.Bytes(flows.messages * float64(messageSize))
	if x.GaugeEvery > 0 {
		n, err := gauges(p, f, x)
		if err != nil {
			return e, err
		}
		samples := units.Bytes(x.End() / x.GaugeEvery)
		e.Gauges = samples * units.Bytes(n*len(f.Hosts)) * gaugeSize
	}
	if x.QueueEvery > 0 {
		ticks := units.Bytes(x.End() / x.QueueEvery)
		e.Queues = ticks * (tickSize + units.Bytes(len(f.Ports)/3)*changeSize)
	}
	framing := p.Framing(f.Spec.MTU)
	for _, name := range x.Capture {
		packets := flows.passing(name, framing.MSS)
		e.Captures += units.Bytes(packets) * (captured(framing.MSS+framing.Overhead, x.SnapLen) +
			captured(controlSize, x.SnapLen))
	}
	return e, nil
}

// captured is what a packet of a size takes in a capture that keeps snap bytes of
// each, 0 for all.
func captured(size units.Bytes, snap int) units.Bytes {
	if snap > 0 {
		size = min(size, units.Bytes(snap))
	}
	return blockSize + size
}

// gauges counts what a host has sampled: the protocol's gauges and the payload
// that it received.
func gauges(p transport.Protocol, f *topo.Fabric, x *emu.Experiment) (int, error) {
	if p.CheckDriver != nil {
		return 1 + kernelGauges, nil
	}
	params, err := all.DecodeParams(p, f, x.Params)
	if err != nil {
		return 0, err
	}
	var count gaugeCounter
	_, err = p.New(transport.Env{Fabric: f, Sink: &count, Rand: rand.New(rand.NewPCG(1, 1))}, params)
	return 1 + int(count), err
}

// kernelGauges is how many gauges the driver of a kernel's protocol has.
const kernelGauges = 5

// A gaugeCounter is a Sink that only counts the gauges that a protocol
// registers.
type gaugeCounter int

func (*gaugeCounter) Data(units.Time, transport.Message, units.Bytes, int, []byte) {}
func (*gaugeCounter) Delivered(units.Time, transport.Message)                      {}
func (*gaugeCounter) Acked(units.Time, transport.Message)                          {}
func (*gaugeCounter) Failed(units.Time, transport.Message, string)                 {}
func (*gaugeCounter) Count(*transport.Counter, int)                                {}

func (c *gaugeCounter) Gauge(string, func() float64) { *c++ }

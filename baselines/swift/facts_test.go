package swift_test

import (
	"math"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/baselines/swift"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

const (
	us    = units.Microsecond
	full  = 1443 // payload of a full packet
	frame = 1538 // what it takes on a link
)

// rack is hosts under one switch, with an unloaded round trip of roundTrip.
func rack(t testing.TB, hosts int) *topo.Fabric { return modeltest.Rack(t, hosts, 1750) }

func roundTrip(f *topo.Fabric, a, b topo.HostID) units.Time {
	return f.Transit(f.Path(a, b, 0), frame) + f.Transit(f.Path(b, a, 0), 89)
}

func params(f *topo.Fabric, change func(*swift.Params)) *swift.Params {
	return modeltest.Params(swift.Protocol, f, change)
}

func newSim(t testing.TB, c model.Config) *model.Sim { return modeltest.Sim(t, swift.Protocol, c) }

// at returns the protocol at a host, controls the control laws of that host's
// connections to another one.
func at(sim *model.Sim, h topo.HostID) *swift.Swift { return sim.Host(h).Transport().(*swift.Swift) }

func controls(sim *model.Sim, h, peer topo.HostID) (list []*swift.Control) {
	at(sim, h).Controllers(peer, func(c flow.Controller, _ bool) { list = append(list, c.(*swift.Control)) })
	return list
}

// leavesHost reports that data leaves its sender.
func leavesHost(f *topo.Fabric, e model.PacketEvent) bool {
	return modeltest.Leaving(f, e) && e.Packet.PayloadLen > 0
}

// Paper, section 6.2, table of parameters; README, Parameters.
func TestDefaultsAreThePapers(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Paper)
	want := swift.Params{
		BaseTarget: 15 * us, PerHop: us, FSRange: 75 * us, FSMin: 0.1, FSMax: 100, UplinkWait: true,
		AI: 1, Beta: 0.8, MaxMDF: 0.5,
		InitialWindow: 66, MinWindow: 0.001, MaxWindow: 1256, MinRTO: 10 * units.Millisecond, RetxReset: 12,
		MaxTimeouts: 15, Connections: 40,
	}
	if got := *swift.DefaultParams(f); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if n := swift.Protocol.Network(f, &want); n != (transport.Network{Priorities: 1}) {
		t.Errorf("ports: %+v", n)
	}
}

func TestValidationNamesTheParameter(t *testing.T) {
	modeltest.BadParamsAreNamed(t, swift.Protocol, map[string][]string{
		"base_target":    {`"0s"`},
		"per_hop":        {`"2s"`},
		"fs_range":       {`"2s"`},
		"fs_min":         {`0`, `-1`, `100`},
		"fs_max":         {`0`},
		"ai":             {`-1`},
		"beta":           {`1.5`, `-0.1`},
		"max_mdf":        {`1`, `-0.1`},
		"initial_window": {`0`, `2000`},
		"min_window":     {`0`, `2`},
		"max_window":     {`0.5`},
		"min_rto":        {`"0s"`},
		"retx_reset":     {`0`},
		"max_timeouts":   {`0`},
		"connections":    {`0`, `1000`},
	})
}

// README, Target delay: with the defaults a is 75/(3.1623 - 0.1) = 24.49 us and
// b is -2.449 us, and the target is base_target + switches x per_hop +
// a/sqrt(window) + b, the last two together from 0 to fs_range.
func TestTargetScalesWithHopsAndFlows(t *testing.T) {
	p := swift.DefaultParams(modeltest.Fabric(t, modeltest.Paper))
	a, b := p.FlowScaling()
	if math.Abs(a-24_490) > 5 || math.Abs(b+2_449) > 1 {
		t.Errorf("a %.0f, b %.0f ns", a, b)
	}
	for _, c := range []struct {
		window float64
		hops   int
		want   units.Time // us
	}{
		{0.001, 1, 15 + 1 + 75}, {0.1, 1, 15 + 1 + 75}, {1, 1, 15 + 1 + 22}, {100, 1, 15 + 1}, {1000, 1, 15 + 1},
		{100, 3, 15 + 3}, {4, 3, 15 + 3 + 9},
	} {
		got := swift.NewControl(p, c.hops).Target(c.window)
		if d := got - c.want*us; d < -900 || d > 900 {
			t.Errorf("window %g, %d hops: %v, want %v us", c.window, c.hops, got, c.want)
		}
	}
}

// Hops are the switches on the path: one in a rack, three across (README,
// Target delay).
func TestHopsAreTheSwitchesOnThePath(t *testing.T) {
	f := modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 1, HostRate: 100 * units.Gbps,
		CoreRate: 100 * units.Gbps, HostDelay: 1250, CoreDelay: 500})
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 100}, {Dst: 2, Size: 100}}})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	if in, across := controls(sim, 0, 1)[0].Hops(), controls(sim, 0, 2)[0].Hops(); in != 1 || across != 3 {
		t.Errorf("%d in the rack, %d across", in, across)
	}
}

// Swift paper, section 3: the round trip settles at the target, which is higher
// the more flows share the link (flow scaling), and the link stays full. The
// round trip is the unloaded one plus the queue.
func TestDelaySettlesAtItsTarget(t *testing.T) {
	last := units.Time(0)
	for _, n := range []int{2, 4, 8, 16, 32} {
		f := rack(t, n+1)
		to := topo.HostID(n)
		var sends []model.Send
		for h := range n {
			sends = append(sends, model.Send{Src: topo.HostID(h), Dst: to, Size: 1 << 31})
		}
		sim := newSim(t, model.Config{Fabric: f, Sends: sends})
		port := f.Downlink(to).ID
		sim.Run(6 * units.Millisecond)
		sim.ResetQueues()
		before := sim.Port(port).WireBytes
		sim.Run(10 * units.Millisecond)
		q := sim.Queue(port)
		delay := roundTrip(f, 0, to) + f.Ports[port].Rate.TimeFor(units.Bytes(q.Mean))
		rate := modeltest.RateOf(units.Bytes(sim.Port(port).WireBytes-before), 4*units.Millisecond).Gigabits()
		least, most, target := math.Inf(1), 0.0, 0.0
		for h := range n {
			c := controls(sim, topo.HostID(h), to)[0]
			least, most = min(least, c.Window()), max(most, c.Window())
			target += float64(c.Target(c.Window())) / float64(n)
		}
		t.Logf("%d flows: delay %v, target %v, windows %.1f to %.1f, queue max %v, %.2f Gbps", n, delay,
			units.Time(target), least, most, q.Max, rate)
		if got := float64(delay) / target; got < 0.95 || got > 1.05 {
			t.Errorf("%d flows: delay %v, target %.0f ns", n, delay, target)
		}
		if rate < 99.9 || delay < last {
			t.Errorf("%d flows: %.2f Gbps, delay %v, with fewer %v", n, rate, delay, last)
		}
		last = delay
	}
}

// README, Window, pacing: with more flows than segments fit into the target
// delay, windows fall below one, segments are paced, and the delay is kept
// where windows of whole segments could not keep it.
func TestWindowsBelowOneSegmentArePaced(t *testing.T) {
	const n, each = 8, 40
	f := rack(t, n+1)
	to := topo.HostID(n)
	var sends []model.Send
	for h := range n {
		for range each {
			sends = append(sends, model.Send{Src: topo.HostID(h), Dst: to, Size: 1 << 30})
		}
	}
	type flowKey struct {
		src topo.HostID
		id  transport.MessageID
	}
	lastSent := map[flowKey]units.Time{}
	gaps, short := 0, 0
	p := params(f, func(p *swift.Params) { p.FSRange = 0 })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends, OnPacket: func(e model.PacketEvent) {
		if e.At < 20*units.Millisecond || !leavesHost(f, e) {
			return
		}
		key := flowKey{e.Src, e.Packet.ID}
		if at, ok := lastSent[key]; ok {
			if gaps++; e.At-at < roundTrip(f, 0, to) {
				short++
			}
		}
		lastSent[key] = e.At
	}})
	sim.Run(20 * units.Millisecond)
	port := f.Downlink(to).ID
	sim.ResetQueues()
	before := sim.Port(port).WireBytes
	sim.Run(25 * units.Millisecond)
	q := sim.Queue(port)
	rate := modeltest.RateOf(units.Bytes(sim.Port(port).WireBytes-before), 5*units.Millisecond).Gigabits()
	delay := roundTrip(f, 0, to) + f.Ports[port].Rate.TimeFor(units.Bytes(q.Mean))
	sum := 0.0
	for h := range n {
		for _, c := range controls(sim, topo.HostID(h), to) {
			sum += c.Window() / (n * each)
		}
	}
	t.Logf("%d flows: mean window %.2f, delay %v, target %v, %.2f Gbps; of %d gaps %d are less than a round trip",
		n*each, sum, delay, p.BaseTarget+p.PerHop, rate, gaps, short)
	// 320 windows of one segment would make a delay of 39 us.
	if sum >= 0.9 || delay > 2*p.BaseTarget || delay < p.BaseTarget/2 || rate < 90 {
		t.Errorf("mean window %.2f, delay %v, %.2f Gbps", sum, delay, rate)
	}
	// An acknowledgement below the target takes a window from below one to
	// above one: then two segments follow each other without a gap.
	if gaps < 10_000 || short > gaps/6 {
		t.Errorf("%d of %d gaps are less than a round trip", short, gaps)
	}
}

// Every message starts from a window of 66 segments (README, Window).
func TestEachMessageBeginsWithTheInitialWindow(t *testing.T) {
	f := rack(t, 5)
	sends := []model.Send{{Src: 0, Dst: 4, Size: 5_000_000}, {At: 3 * units.Millisecond, Src: 0, Dst: 4,
		Size: 5_000_000}}
	for h := range f.Hosts[1:4] {
		sends = append(sends, model.Send{Src: topo.HostID(1 + h), Dst: 4, Size: 20_000_000})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends,
		Params: params(f, func(p *swift.Params) { p.Connections = 1 })})
	sim.Run(units.Millisecond)
	if w := controls(sim, 0, 4)[0].Window(); w > 50 {
		t.Errorf("window %g when four share the link", w)
	}
	sim.Run(3*units.Millisecond + us)
	if w := controls(sim, 0, 4)[0].Window(); w != 66 {
		t.Errorf("window %g at the second message", w)
	}
	modeltest.AllDone(t, f, sim, units.Second)
}

package dcpim_test

import (
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Timing: at 100 Gbps the BDP is 49 packets, the control RTT 5.216 us,
// a round 6.78 us, a matching and its data phase 54.25 us, with a new matching
// every 27.1 us, and 56 packets per channel and data phase. The simulator's
// packets have 1500 and 40 bytes with all headers; with the frames of this
// testbed (1538 and 84 bytes on the wire) control packets take 18 ns more there
// and back, and a packet 3 ns more, which takes one packet off the BDP and one
// off a channel.
//
// Times are whole ns and a round has two equal halves, so that a round may be
// off by 1 ns and an epoch by 8.
func TestDerivedFiguresOfTheReleasedSimulator(t *testing.T) {
	f := modeltest.Fabric(t, released)
	for _, c := range []struct {
		name          string
		data, control units.Bytes
		want          dcpim.Timing
	}{
		{"the simulator's packets", 1500, 40, dcpim.Timing{
			BDP: 49, ControlRTT: 5216, Round: 6781, Matching: 27123, Epoch: 54246, ChannelPackets: 56,
			ResendTimeout: 49 * 120, WindowTimeout: 49 * 120 * 11 / 10,
		}},
		{"this testbed's", frame, 84, dcpim.Timing{
			BDP: 48, ControlRTT: 5234, Round: 6804, Matching: 27215, Epoch: 54429, ChannelPackets: 55,
			ResendTimeout: 5905, WindowTimeout: 6496,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := params(f, nil)
			p.BDP = dcpim.BandwidthDelay(f, c.data)
			got, want := dcpim.Derive(f, 100*units.Gbps, c.data, c.control, p), c.want
			near := func(name string, got, want, by units.Time) {
				if got < want-by || got > want+by {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
			near("control RTT", got.ControlRTT, want.ControlRTT, 0)
			near("round", got.Round, want.Round, 1)
			near("matching", got.Matching, want.Matching, 4)
			near("epoch", got.Epoch, want.Epoch, 8)
			near("resend timeout", got.ResendTimeout, want.ResendTimeout, 1)
			near("window timeout", got.WindowTimeout, want.WindowTimeout, 1)
			if got.BDP != want.BDP || got.ChannelPackets != want.ChannelPackets {
				t.Errorf("BDP %d packets, %d per channel, want %d and %d", got.BDP, got.ChannelPackets,
					want.BDP, want.ChannelPackets)
			}
		})
	}
}

// README, Timing: a round is beta times the topology's control RTT, and phases,
// windows and timeouts follow from it.
func TestRoundsFollowFromTheTopology(t *testing.T) {
	slow := modeltest.Small
	slow.CoreDelay = 5000
	far := units.Time(3000)
	uneven := modeltest.Small
	uneven.Links = []topo.LinkOverride{{Between: [2]string{"h2-1", "leaf2"}, Delay: &far}}
	for name, c := range map[string]struct {
		spec     topo.Spec
		from, to topo.HostID
	}{
		"one rack":      {topo.Spec{Leaves: 1, HostsPerLeaf: 4, HostRate: 25 * units.Gbps, HostDelay: 900}, 0, 3},
		"two racks":     {modeltest.Small, 0, 3},
		"a slow core":   {slow, 0, 3},
		"released":      {released, 0, 143},
		"a distant one": {uneven, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := modeltest.Fabric(t, c.spec)
			want := units.Time(0)
			if c.from != c.to {
				want = f.Transit(f.Path(c.from, c.to, 0), topo.MinWire) +
					f.Transit(f.Path(c.to, c.from, 0), topo.MinWire)
			} else {
				// The bound takes both host links to be like the most distant host's.
				want = 2 * (2*(3000+7) + 2*(500+7))
			}
			got := dcpim.Derive(f, c.spec.HostRate, frame, topo.MinWire, params(f, nil))
			if d := got.ControlRTT - want; d < -2 || d > 2 {
				t.Errorf("control RTT %v, want %v", got.ControlRTT, want)
			}
			if d := float64(got.Round) - 1.3*float64(got.ControlRTT); d < -1 || d > 1 {
				t.Errorf("a round is %v, want 1.3 x %v", got.Round, got.ControlRTT)
			}
			if got.Matching != 4*got.Round || got.Epoch != 8*got.Round {
				t.Errorf("matching %v, epoch %v with rounds of %v, want 4 and 8 of them", got.Matching, got.Epoch,
					got.Round)
			}
			packet := c.spec.HostRate.Picoseconds(frame)
			if want := int(int64(got.Matching) * 1000 / packet / 4); got.ChannelPackets != want {
				t.Errorf("%d packets per channel, want %d", got.ChannelPackets, want)
			}
		})
	}
}

// Rounds, beta and alpha set lengths in proportion.
func TestPhasesFollowParameters(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Small)
	base := dcpim.Derive(f, 100*units.Gbps, frame, 84, params(f, nil))
	for _, c := range []struct {
		change          func(*dcpim.Params)
		matching, epoch float64
	}{
		{func(p *dcpim.Params) { p.Rounds = 8 }, 2, 2},
		{func(p *dcpim.Params) { p.Beta = 2.6 }, 2, 2},
		{func(p *dcpim.Params) { p.Alpha = 2 }, 1, 1.5},
		{func(p *dcpim.Params) { p.Channels = 8 }, 1, 1},
	} {
		got := dcpim.Derive(f, 100*units.Gbps, frame, 84, params(f, c.change))
		for _, v := range []float64{
			float64(got.Matching)/float64(base.Matching) - c.matching, float64(got.Epoch)/float64(base.Epoch) - c.epoch,
		} {
			if v < -0.001 || v > 0.001 {
				t.Errorf("%+v, base %+v", got, base)
			}
		}
	}
}

package sird_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// crossfire has many senders send to many receivers at once, so that both are
// congested by turns. The lowest hosts are the receivers.
func crossfire(senders, receivers, each int, size units.Bytes) (sends []model.Send) {
	r := rand.New(rand.NewPCG(4, 4))
	for src := range senders {
		for range each {
			sends = append(sends, model.Send{
				At: units.Time(r.IntN(100_000)), Src: topo.HostID(receivers + src), Dst: topo.HostID(r.IntN(receivers)),
				Size: size/2 + units.Bytes(r.IntN(int(size))),
			})
		}
	}
	return sends
}

// Paper, section 4.1: B "bounds the queuing length from scheduled packets to
// B - BDP bytes at the ToR's downlink". Senders are at different
// distances and send in rounds, since pacing alone leaves no queue between equal ones.
func TestScheduledIncastQueuesAtMostBMinusBDP(t *testing.T) {
	s := topo.Spec{Leaves: 1, HostsPerLeaf: 17, HostRate: 100 * units.Gbps, HostDelay: 1900}
	for i := range 16 {
		near := units.Time(1750 + 10*i)
		s.Links = append(s.Links, topo.LinkOverride{Between: [2]string{"leaf1", fmt.Sprintf("h1-%d", i+2)},
			Delay: &near})
	}
	f := modeltest.Fabric(t, s)
	for _, policy := range []string{"srpt", "round_robin"} {
		for _, b := range []sird.Multiple{1, 1.1, 1.25, 1.5, 2, 3} {
			p := params(f, func(p *sird.Params) { p.B, p.UnschT, p.BDP, p.ReceiverPolicy = b, 0, f.BDP(), policy })
			limit := units.Bytes(float64(b)*float64(p.BDP)) - p.BDP
			var sends []model.Send
			for i := range 160 {
				sends = append(sends, model.Send{At: units.Time(i / 16 * 5_000), Src: topo.HostID(1 + i%16),
					Size: units.Bytes(10_000 + i%7*20_000)})
			}
			var queued, deepest units.Bytes // what waits, less the packet in transmission
			sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: sends, OnPacket: func(e model.PacketEvent) {
				if e.Port != f.Downlink(0) || !sird.Parse(e.Packet.Header()).Scheduled {
					return
				}
				switch e.Kind {
				case model.Enqueued:
					deepest = max(deepest, queued)
					queued += e.Packet.WireLen()
				case model.Transmitted:
					queued -= e.Packet.WireLen()
				}
			}})
			modeltest.AllDone(t, f, sim, 10*units.Millisecond)
			// Not always is a whole BDP on its way: grants are paced, arrivals from near
			// and far senders meet, and the BDP is rounded down.
			if deepest > limit+4*frame {
				t.Errorf("%s, B %v: up to %d queued, want at most %d", policy, b, deepest, limit)
			}
		}
	}
}

// Paper, Algorithm 1: b + credit <= B at every grant, and "max 1 BDP" for each
// sender, with senders and receivers congested by turns.
func TestCreditOutIsAtMostBAndABDPPerSender(t *testing.T) {
	const senders, receivers = 8, 3
	f := rack(t, senders+receivers)
	for _, b := range []sird.Multiple{1, 1.25, 1.5, 2, 3} {
		p := params(f, func(p *sird.Params) { p.B, p.UnschT, p.SThr = b, 0, inf })
		limit := units.Bytes(float64(b) * float64(p.BDP))
		var most, each units.Bytes
		var sim *model.Sim
		sim = newSim(t, model.Config{
			Fabric: f, Params: p, Sends: crossfire(senders, receivers, 5, 400_000),
			OnPacket: func(e model.PacketEvent) {
				for h := range topo.HostID(receivers) {
					most = max(most, at(sim, h).Used())
					for src := receivers; src < receivers+senders; src++ {
						each = max(each, at(sim, h).InFlight(src))
					}
				}
			},
		})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		if most > limit || most < min(limit, 150_000)-frame || each > p.BDP || each < p.BDP-frame {
			t.Errorf("B %v: up to %d of credit out, want %v; %d to one sender, want %v", b, most, limit, each, p.BDP)
		}
	}
}

// README, Crediting: as released, the credit that is out is compared
// with the sender's bucket before a grant is added, which overshoots by up to a
// frame; by Algorithm 1, line 9, after.
func TestGrantOvershootsTheBucketByAtMostAFrame(t *testing.T) {
	const senders, receivers = 3, 4
	f := rack(t, senders+receivers)
	for _, c := range []struct {
		check string
		over  units.Bytes
	}{{"before", frame}, {"after", 0}} {
		p := params(f, func(p *sird.Params) { p.BucketCheck, p.UnschT = c.check, 0 })
		var over units.Bytes
		small := units.Unlimited
		var sim *model.Sim
		sim = newSim(t, model.Config{
			Fabric: f, Params: p, Sends: crossfire(senders, receivers, 8, 1_000_000),
			OnPacket: func(e model.PacketEvent) {
				// A credit enters its host's port as it is granted.
				h := sird.Parse(e.Packet.Header())
				if e.Kind == model.Enqueued && e.Port == f.Uplink(e.Src) && h.Kind == "CREDIT" && !h.Request {
					r := at(sim, e.Src)
					bucket := r.Bucket(int(e.Dst))
					small = min(small, bucket)
					over = max(over, r.InFlight(int(e.Dst))-bucket)
				}
			},
		})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		if small > 50_000 {
			t.Fatalf("buckets stay above %v: the rule is not put to the test", small)
		}
		if over > c.over || over < c.over/2 {
			t.Errorf("bucket_check %s: up to %d above the bucket, want %d", c.check, over, c.over)
		}
	}
}

// README, Crediting: without the overshoot a bucket below one frame would
// never grant again. With MTU 9000 and a BDP of little more than a frame it
// still does.
func TestBucketOfOneFrameStillGrants(t *testing.T) {
	f := modeltest.Fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 10 * units.Gbps, HostDelay: 100,
		MTU: 9000})
	for _, check := range []string{"before", "after"} {
		p := params(f, func(p *sird.Params) { p.BDP, p.B, p.BucketCheck, p.SThr, p.UnschT = 10_000, 1, check, 0, 0 })
		sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{
			{Src: 0, Dst: 1, Size: 300_000}, {Src: 0, Dst: 2, Size: 300_000}, {Src: 0, Dst: 2, Size: 300_001},
		}})
		modeltest.AllDone(t, f, sim, 5*units.Millisecond)
	}
}

// Paper, section 4.4: "receivers pace credit transmission to match their
// downlink's capacity": credited wire bytes leave at credit_rate of it, from the
// first to the last.
func TestCreditIsPacedAtItsShareOfTheDownlink(t *testing.T) {
	f := rack(t, 3)
	for _, share := range []float64{1, 0.98, 0.5, 0.1} {
		p := params(f, func(p *sird.Params) { p.CreditRate, p.B = share, 2 })
		var first, last units.Time
		granted := map[topo.HostID]uint32{}
		var bytes, final units.Bytes
		closest := units.Never
		sim := newSim(t, model.Config{
			Fabric: f, Params: p, Sends: []model.Send{{Src: 1, Dst: 0, Size: 500_000}, {Src: 2, Dst: 0, Size: 700_000}},
			OnPacket: func(e model.PacketEvent) {
				h, ok := leavesHost(f, e)
				if !ok || h.Kind != "CREDIT" {
					return
				}
				if bytes == 0 {
					first = e.At
				} else {
					closest = min(closest, e.At-last)
				}
				last = e.At
				final = units.Bytes(h.Credit - granted[e.Dst])
				granted[e.Dst] = h.Credit
				bytes += final
			},
		})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		rate := float64(modeltest.RateOf(bytes-final, last-first)) / float64(100*units.Gbps)
		if rate > share*1.0005 || rate < share*0.995 {
			t.Errorf("credit_rate %v: paced at %.4f", share, rate)
		}
		if spacing := units.Time(123.04 / share); closest < spacing-2 && closest < units.Time(80/share) {
			t.Errorf("credit_rate %v: two credits %v apart, want %v", share, closest, spacing)
		}
	}
}

// One CREDIT may be for several packets: fewer of them carry as much. Waiting for room for
// several takes a part of the BDP, so that a message alone takes a little longer.
func TestOneCreditMayBeForSeveralPackets(t *testing.T) {
	f := rack(t, 2)
	run := func(packets int) (credits int, most units.Bytes, took units.Time) {
		var granted uint32
		p := params(f, func(p *sird.Params) { p.CreditPackets = packets })
		sim := newSim(t, model.Config{
			Fabric: f, Params: p, Sends: []model.Send{{Src: 1, Dst: 0, Size: 1_442_000}}, // whole packets
			OnPacket: func(e model.PacketEvent) {
				if h, ok := leavesHost(f, e); ok && h.Kind == "CREDIT" {
					credits++
					most = max(most, units.Bytes(h.Credit-granted))
					granted = h.Credit
				}
			},
		})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		return credits, most, sim.Messages()[0].Latency()
	}
	one, wire, alone := run(1)
	for _, packets := range []int{2, 4, 8} {
		credits, most, took := run(packets)
		if credits > one/packets+one/20 || most != units.Bytes(packets)*wire {
			t.Errorf("%d packets: %d credits of up to %v, with 1 %d of %v", packets, credits, most, one, wire)
		}
		if float64(took) > 1.1*float64(alone) {
			t.Errorf("%d packets: the message takes %v, with 1 %v", packets, took, alone)
		}
	}
}

// Credit comes back with the scheduled packets that it was spent on (Algorithm 1).
// An unscheduled packet overtakes those that still wait at a lower priority, and
// would return theirs too soon: B would then bound nothing.
func TestUnscheduledPacketsReturnNoScheduledCredit(t *testing.T) {
	f := rack(t, 3)
	for _, priorities := range []string{"data", "control", "none"} {
		t.Run(priorities, func(t *testing.T) {
			p := params(f, func(p *sird.Params) { p.BDP, p.Priorities = f.BDP(), priorities })
			limit := units.Bytes(float64(p.B)*float64(p.BDP)) - p.BDP + 20*f.FullFrame()
			small := traffic.Stream{Name: "small", Pattern: traffic.PatternFixed, From: []string{"h1-1", "h1-2"},
				To: []string{"h1-3"}, Size: 1000, Rate: 5 * units.Gbps}
			bulk := traffic.Stream{Name: "bulk", Pattern: traffic.PatternOutcast, From: []string{"h1-1", "h1-2"},
				To: []string{"h1-3"}, Size: 10 * units.Megabyte, Outstanding: 2}
			sim := newSim(t, model.Config{Fabric: f, Seed: 1, Params: p, To: 5 * units.Millisecond,
				Streams: []traffic.Stream{bulk, small}})
			sim.Run(5 * units.Millisecond)
			if got := sim.Queue(f.Downlink(2).ID).Max; got > limit {
				t.Errorf("got %v at the downlink, want at most %v", got, limit)
			}
		})
	}
}

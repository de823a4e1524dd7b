//go:build linux

package fabric

import (
	"math"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/internal/burst"
	"sirdbed/emu/internal/conformance"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Claims about the fabric of the paper's simulations, in nominal time, that are met
// where the clock is virtual: 0.1 % is the bound, a few ns what is found.

const exactDilation = 1000

// exactFabric is two racks of the paper's simulated fabric.
func exactFabric(t *testing.T) *Fabric {
	t.Helper()
	nstest.RequireExactTime(t)
	return up(t, topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 4, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500}, Config{Dilation: exactDilation, Wires: emu.Netem})
}

// nowRealtime is the clock that arrivals are stamped by.
func nowRealtime() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &ts)
	return ts.Nano()
}

// send hands frames to the network and returns when, by the arrivals' clock.
func send(t *testing.T, s *burst.Socket, frames ...[]byte) int64 {
	t.Helper()
	at := nowRealtime()
	if _, err := s.Send(frames...); err != nil {
		t.Fatal(err)
	}
	return at
}

func receive(t *testing.T, s *burst.Socket, n int) []burst.Arrival {
	t.Helper()
	got, err := s.Collect(n, silence)
	if err != nil || len(got) != n {
		t.Fatalf("%d of %d packets arrived (%v)", len(got), n, err)
	}
	return got
}

// nominal is what the kernel's ns are, in us.
func nominal(kernel int64) float64 { return float64(kernel) / exactDilation / 1000 }

// Round trips of store-and-forward switches: a full packet (1538 bytes on the
// wire) answered by a full or a minimal one (84).
func TestExactRoundTrips(t *testing.T) {
	f := exactFabric(t)
	for _, c := range conformance.RoundTrips {
		to, us := topo.HostID(1), float64(c.PS)/1e6
		if c.Across {
			to = 2
		}
		a, b := socket(t, f, 0), socket(t, f, to)
		there, back := flow(f, 0, f.topology.HostAddr(to, 0), 1), flow(f, to, f.topology.HostAddr(0, 0), 1)
		for range 3 {
			began := send(t, a, there.Frame(1, 1514, 0))
			receive(t, b, 1)
			send(t, b, back.Frame(2, c.Reply, 0))
			took := nominal(receive(t, a, 1)[0].At - began)
			if math.Abs(took-us) > us/1000 {
				t.Errorf("%s: %.4f us, want %.3f", c.Name, took, us)
			} else {
				t.Logf("%s: %.4f us, want %.3f", c.Name, took, us)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// A burst leaves the sender, and arrives, at link rate from the first packet on:
// in the rack, and across, where the core is faster.
func TestExactLinkRate(t *testing.T) {
	f := exactFabric(t)
	const packets = 200
	for _, to := range []topo.HostID{1, 2} {
		for _, frame := range []int{1514, 600, 60} {
			a, b := socket(t, f, 0), socket(t, f, to)
			fl := flow(f, 0, f.topology.HostAddr(to, 0), 1)
			var list [][]byte
			for i := range uint32(packets) {
				list = append(list, fl.Frame(i, frame, 0))
			}
			began := send(t, a, list...)
			got := receive(t, b, packets)
			wire := units.Bytes(frame + 24)
			each := float64(wire*8) / 100e9 * 1e6 // us
			path := f.topology.Path(0, to, 0)
			first := transitUS(f, path, wire)
			if took := nominal(got[0].At - began); math.Abs(took-first) > first/1000 {
				t.Errorf("%d bytes to host %d: the first took %.4f us, want %.4f", frame, to, took, first)
			}
			worst := 0.0
			for i := 1; i < packets; i++ {
				worst = max(worst, math.Abs(nominal(got[i].At-got[i-1].At)-each))
			}
			rate := float64(wire*8*(packets-1)) / nominal(got[packets-1].At-got[0].At) / 1000
			t.Logf("%d bytes to host %d: %.4f Gbps on the wire, no gap off by more than %.3f ns", frame, to, rate,
				worst*1000)
			if math.Abs(rate-100) > 0.1 || worst > each/1000+0.0005 {
				t.Errorf("%d bytes to host %d: %.4f Gbps on the wire, a gap is %.3f ns off", frame, to, rate,
					worst*1000)
			}
		}
	}
}

// transitUS is what an idle path takes, in us and exactly.
func transitUS(f *Fabric, path []topo.PortID, wire units.Bytes) (us float64) {
	for _, p := range path {
		us += float64(f.topology.Ports[p].Delay)/1000 + float64(wire*8)/float64(f.topology.Ports[p].Rate)*1e6
	}
	return us
}

// Sleeping threads wake up at the ns asked for.
func TestExactSleep(t *testing.T) {
	nstest.RequireExactTime(t)
	if err := clock.LockThread(); err != nil {
		t.Fatal(err)
	}
	for _, nap := range []int64{1000, 123_040, 10_000_000, 1_000_000_000} {
		until := clock.Monotonic() + nap
		if err := clock.SleepUntil(until); err != nil {
			t.Fatal(err)
		}
		if late := clock.Monotonic() - until; late < 0 || late > 50 {
			t.Errorf("%d ns late after %d", late, nap)
		}
	}
}

// Links carry at once, however many: those of which the kernel has not heard for lack of time
// are asked.
func TestExactCarriersOfManyLinks(t *testing.T) {
	nstest.RequireExactTime(t)
	began := clock.Monotonic()
	up(t, topo.Spec{Leaves: 2, HostsPerLeaf: 150, Spines: 1, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
		HostDelay: 1250, CoreDelay: 500}, Config{Dilation: exactDilation})
	if took := time.Duration(clock.Monotonic() - began); took > 500*time.Millisecond {
		t.Errorf("300 hosts took %v of the kernel's time, where nothing takes any", took)
	}
}

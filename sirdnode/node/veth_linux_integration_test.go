//go:build linux

package node

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Two hosts on one veth pair without any shaping, each a process:
//
//	namespace a            namespace b
//	  a0 ------------------- b0
//	  h1-1                 h1-2
//
// The test binary starts itself again as each of them, by this variable.
const roleVar = "SIRDBED_TEST_ROLE"

func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv(roleVar)]
	if !ok {
		nstest.Main(m)
		return
	}
	if err := role(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var roles = map[string]func() error{
	"node":         func() error { return Run(0, os.Stdout, io.Discard) },
	"send bare":    sendBare,
	"receive bare": receiveBare,
}

// pair is the two namespaces and what runs in them.
type pair struct {
	t    testing.TB
	nets [2]*nstest.Net
}

func newPair(t testing.TB, mtu int) *pair {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	p := &pair{t, [2]*nstest.Net{nstest.Namespace(t), nstest.Namespace(t)}}
	nstest.Veth(t, p.nets[0], p.nets[1], mtu)
	return p
}

// start starts the test binary in a role, in one of the namespaces.
func (p *pair) start(end int, role string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	p.t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVar+"="+role, "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.nets[end].Do(cmd.Start); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, in, bufio.NewReader(out)
}

// bare returns the packets a second that a bare socket sends to another.
func (p *pair) bare() (pps float64) {
	receiver, _, out := p.start(1, "receive bare")
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		p.t.Fatalf("bare receiver: %q, %v", line, err)
	}
	sender, _, _ := p.start(0, "send bare")
	if err := json.NewDecoder(out).Decode(&pps); err != nil {
		p.t.Fatal(err)
	}
	sender.Wait()
	receiver.Wait()
	return pps
}

// hosts runs two hosts, the first of which sends to the second without end, for
// some time and returns their reports.
func (p *pair) hosts(mtu int, run time.Duration) (reports [2]*Report) {
	spec := topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: units.Tbps, MTU: units.Bytes(mtu)}
	stream := traffic.Stream{Name: "bulk", Pattern: traffic.PatternOutcast, From: []string{"h1-1"},
		To: []string{"h1-2"}, Size: 10 * units.Megabyte, Outstanding: 4}
	end := units.Time(run)
	var ins [2]io.WriteCloser
	var outs [2]*json.Decoder
	for i, ifname := range []string{nstest.VethA, nstest.VethB} {
		_, in, out := p.start(i, "node")
		ins[i], outs[i] = in, json.NewDecoder(out)
		b, err := json.Marshal(Config{
			Self: topo.HostID(i), Topology: spec, Protocol: "sird", Streams: []traffic.Stream{stream}, Seed: 1,
			// The loop of two processes on a veth is some 100 us.
			Params: json.RawMessage(`{"bdp":"2MB","loss_timeout":"50ms"}`),
			From:   end / 4, To: end, End: end, Interface: ifname, Dilation: 1, RxFrames: 4 * StallFrames,
			CatchUp: 2e6, Apart: 20e3, // as in real time
		})
		if err != nil {
			p.t.Fatal(err)
		}
		fmt.Fprintf(in, "%s\n", b)
	}
	p.await(outs, StateReady)
	origin := clock.Monotonic() + 50e6
	for _, in := range ins {
		fmt.Fprintf(in, "go %d\n", origin)
	}
	p.await(outs, StateDone)
	time.Sleep(50 * time.Millisecond)
	for _, in := range ins {
		fmt.Fprintln(in, "stop")
	}
	for i, s := range p.await(outs, StateFinished) {
		reports[i] = s.Report
	}
	return reports
}

func (p *pair) await(outs [2]*json.Decoder, state string) (got [2]Status) {
	p.t.Helper()
	for i, out := range outs {
		for got[i].State != state {
			if err := out.Decode(&got[i]); err != nil || got[i].State == StateFailed {
				p.t.Fatalf("host %d, waiting for %q: %+v, %v", i, state, got[i], err)
			}
		}
	}
	return got
}

// Two host processes on a wire deliver what they send, every byte of it right.
func TestTwoNodesOnAVeth(t *testing.T) {
	for _, mtu := range []int{1500, 9000, 9216} {
		t.Run(fmt.Sprint("mtu=", mtu), func(t *testing.T) {
			r := newPair(t, mtu).hosts(mtu, 300*time.Millisecond)
			a, b := r[0], r[1]
			if b.Counts.Delivered == 0 || b.Counts.Mismatches != 0 || b.NIC.Corrupt != 0 {
				t.Errorf("%+v %+v", b.Counts, b.NIC)
			}
			if lost := a.NIC.Sent - b.NIC.Received - b.NIC.Drops; lost != 0 {
				t.Errorf("%d packets are not accounted for: sent %+v, received %+v", lost, a.NIC, b.NIC)
			}
		})
	}
}

// BenchmarkVeth compares SIRD's goodput over an unshaped veth with what a bare
// raw-socket pump carries in packets of the same size, in turn in one run: the
// medians of both, and of their ratio, also in packets.
func BenchmarkVeth(b *testing.B) {
	for _, mtu := range []int{1500, 9000} {
		b.Run(fmt.Sprint("mtu=", mtu), func(b *testing.B) {
			p := newPair(b, mtu)
			protocol, err := all.Find("sird")
			if err != nil {
				b.Fatal(err)
			}
			mss := float64(protocol.Framing(units.Bytes(mtu)).MSS)
			var bare, sird, ratio, packets []float64
			for b.Loop() {
				pps := p.bare()
				pump := pps * mss * 8 / 1e9
				r := p.hosts(mtu, bareTime)
				sent := float64(r[0].NIC.Sent + r[1].NIC.Sent)
				goodput := float64(r[1].Counts.WindowPayload) * 8 / (0.75 * bareTime.Seconds()) / 1e9
				bare, sird, ratio = append(bare, pump), append(sird, goodput), append(ratio, goodput/pump)
				packets = append(packets, sent/bareTime.Seconds()/pps)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(bare), "pump-Gbps")
			b.ReportMetric(median(sird), "SIRD-Gbps")
			b.ReportMetric(median(ratio), "ratio")
			b.ReportMetric(median(packets), "packets-ratio") // control included
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

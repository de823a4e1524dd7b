//go:build linux

package endpoint

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/endpoint/session"
	"sirdbed/topo/units"
)

// few is a load that takes a fraction of a second.
var few = Load{Size: 20 * units.Kilobyte, Outstanding: 2, Count: 100}

// delivered checks that both ends of a session have seen all of a load, and nothing else.
func delivered(t *testing.T, got Outcome, l Load) {
	t.Helper()
	r := &got.Report
	if got.Error != "" || r.Totals.Failed != 0 || r.DamagedPayload() != 0 {
		t.Fatalf("error %q, %d failed, damaged payload in %d packets", got.Error, r.Totals.Failed, r.DamagedPayload())
	}
	if int64(r.Latency.Count) != l.Count || r.Totals.Offered != l.Count || r.Latency.Median <= 0 {
		t.Errorf("%d offered, %d through, median %v: want %d",
			r.Totals.Offered, r.Latency.Count, r.Latency.Median, l.Count)
	}
	var there session.Counts
	for i := range r.Peers {
		c := r.Peers[i].Counts
		there.Messages += c.Messages
		there.Payload += c.Payload
		if c.Messages == 0 {
			t.Errorf("%v has had nothing", r.Peers[i].Addr)
		}
	}
	if there.Messages != l.Count || there.Payload != l.Count*int64(l.Size) {
		t.Errorf("peers have had %+v: want %d messages of %v", there, l.Count, l.Size)
	}
}

func TestEveryProtocolDeliversBetweenTwoMachines(t *testing.T) {
	b := sideBySide(t)
	for _, p := range all.List() {
		if Suits(&p) != nil {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			far := serve(t, b.far, Role{Protocol: p.Name})
			delivered(t, send(t, b.near, Role{Protocol: p.Name, Load: few, To: []netip.Addr{b.to}}), few)
			ping := Load{Size: AnswerSize, Answered: true, Outstanding: 1, Count: 200}
			delivered(t, send(t, b.near, Role{Protocol: p.Name, Load: ping, To: []netip.Addr{b.to}}), ping)
			got := far.stop()
			if v := got.Served.Visits; got.Error != "" || len(v) != 2 || v[0].Error != "" || v[1].Error != "" {
				t.Errorf("the serving end: error %q, visits %+v", got.Error, v)
			}
			if n := got.Served.Totals.Delivered; n != few.Count+ping.Count {
				t.Errorf("the serving end has had %d messages, want %d", n, few.Count+ping.Count)
			}
		})
	}
	if near, far := icmpSent(t, b.near), icmpSent(t, b.far); near+far != 0 {
		t.Errorf("the kernels have answered: %d at the sending end, %d at the serving end", near, far)
	}
}

// Frames go to the router that the kernel's routes name, by its MAC address.
func TestPacketsTakeTheKernelsRoutes(t *testing.T) {
	b, router := routed(t)
	for _, protocol := range []string{"sird", "dctcp"} {
		far := serve(t, b.far, Role{Protocol: protocol})
		got := send(t, b.near, Role{Protocol: protocol, Load: few, To: []netip.Addr{b.to}})
		delivered(t, got, few)
		if hop := got.Report.Peers[0].NextHop; hop != netip.MustParseAddr("10.7.1.254") {
			t.Errorf("the next hop is %v", hop)
		}
		if got.Report.Loop.Usual <= 0 || got.Report.BDP <= 0 {
			t.Errorf("credit loop %+v, BDP %v", got.Report.Loop, got.Report.BDP)
		}
		if o := far.stop(); o.Error != "" {
			t.Error(o.Error)
		}
	}
	if n := icmpSent(t, b.near) + icmpSent(t, b.far) + icmpSent(t, router); n != 0 {
		t.Errorf("the kernels have answered %d times", n)
	}
}

// Several send to one, and one to several, of the same three machines in a row.
func TestSeveralPeers(t *testing.T) {
	b, router := routed(t)
	middle := netip.MustParseAddr("10.7.1.254")
	far := serve(t, b.far, Role{})
	other := start(t, router, Role{Load: few, To: []netip.Addr{b.to}})
	delivered(t, send(t, b.near, Role{Load: few, To: []netip.Addr{b.to}}), few)
	delivered(t, other.wait(), few)
	also := serve(t, router, Role{Interface: farIf})
	got := send(t, b.near, Role{Load: few, To: []netip.Addr{b.to, middle}})
	delivered(t, got, few)
	for i, p := range got.Report.Peers {
		if p.NextHop != middle || p.Loop.Usual <= 0 {
			t.Errorf("peer %d: %+v", i, p)
		}
	}
	// The two need not serve alike, and then nobody can send to both.
	also.stop()
	also = serve(t, router, Role{Interface: farIf, Params: json.RawMessage(`{"b": 3}`)})
	got = send(t, b.near, Role{Load: few, To: []netip.Addr{b.to, middle}})
	if want := "10.7.2.2 and 10.7.1.254 go by different parameters"; !strings.Contains(got.Error, want) {
		t.Errorf("error %q, want %q", got.Error, want)
	}
	for _, p := range []*process{far, also} {
		if o := p.stop(); o.Error != "" {
			t.Error(o.Error)
		}
	}
}

// What a sender counts is what the link carries: not more than its rate, and most of it,
// though both ends share this machine.
func TestBlastFillsTheLink(t *testing.T) {
	b := sideBySide(t)
	far := serve(t, b.far, Role{Rate: 50 * units.Mbps})
	load := Load{Size: units.Megabyte / 4, Outstanding: 4, For: 2 * units.Second}
	got := send(t, b.near, Role{Rate: 50 * units.Mbps, Load: load, To: []netip.Addr{b.to}})
	if got.Error != "" {
		t.Fatal(got.Error)
	}
	if g := got.Report.Goodput; g > 50*units.Mbps || g < 10*units.Mbps {
		t.Errorf("goodput %v on a link of 50Mbps", g)
	}
	if c := got.Report.Peers[0].Counts; c.Payload != got.Report.Totals.Sent {
		t.Errorf("%d B through, %d B arrived", got.Report.Totals.Sent, c.Payload)
	}
	far.stop()
}

func TestEndsThatDoNotFitAreRefused(t *testing.T) {
	b := sideBySide(t)
	far := serve(t, b.far, Role{Build: "one", Params: json.RawMessage(`{"b": 2}`)})
	for _, c := range []struct {
		role Role
		want string
	}{
		{Role{Build: "two"}, "it is one, not two: use the same build at both ends"},
		{Role{Build: "one", Protocol: "homa"}, "it serves sird, not homa"},
		{Role{Build: "one", Params: json.RawMessage(`{"b": 3}`)}, "it has sird.b 2, not 3"},
		{Role{Build: "one", MTU: 1000}, "serve with --mtu 1000"},
		{Role{Params: json.RawMessage(`{"nothing": 3}`)}, `unknown field "nothing"`},
		{Role{Protocol: "tcp-cubic"}, "the kernel's own"},
		{Role{Protocol: "dcpim"}, "clocks agree"},
	} {
		c.role.Load, c.role.To = few, []netip.Addr{b.to}
		if got := send(t, b.near, c.role); !strings.Contains(got.Error, c.want) {
			t.Errorf("error %q, want %q", got.Error, c.want)
		}
	}
	// None of these has done any harm.
	good := Role{Build: "one", Params: json.RawMessage(`{"b": 2}`), Load: few, To: []netip.Addr{b.to}}
	delivered(t, send(t, b.near, good), few)
	if got := send(t, b.far, Role{Serve: true}); !strings.Contains(got.Error, "another sirdbed node runs there") {
		t.Errorf("a second one that serves: error %q", got.Error)
	}
	far.stop()
}

func TestWaysThatLeadNowhereAreNamed(t *testing.T) {
	b := sideBySide(t)
	for _, c := range []struct {
		to, iface, want string
	}{
		{"10.7.1.2", "", "nothing serves at 10.7.1.2"},
		{"10.9.9.9", "", "no route to 10.9.9.9"},
		{"10.7.1.1", "", "this machine's own address"},
		{"10.7.1.9", "", "10.7.1.9 does not answer ARP on " + nearIf},
		{"10.7.1.2", "lo", "interface lo is down"},
		{"10.7.1.2", "none", "no such network interface"},
	} {
		r := Role{Load: few, Interface: c.iface, To: []netip.Addr{netip.MustParseAddr(c.to)}}
		if got := send(t, b.near, r); !strings.Contains(got.Error, c.want) {
			t.Errorf("to %s by %q: error %q, want %q", c.to, c.iface, got.Error, c.want)
		}
	}
	down(t, b.near, nearIf)
	if got := send(t, b.near, Role{Load: few, To: []netip.Addr{b.to}, Interface: nearIf}); got.Error == "" {
		t.Error("no error by an interface that is down")
	}
	want := "interface " + nearIf + " is down"
	if got := send(t, b.near, Role{Serve: true, Interface: nearIf}); !strings.Contains(got.Error, want) {
		t.Errorf("error %q, want %q", got.Error, want)
	}
}

// endless is a load without an end.
var endless = Load{Size: 20 * units.Kilobyte, Outstanding: 2}

// settle lets a session begin, and some messages through.
const settle = time.Second

func TestServerThatDiesEndsItsSenders(t *testing.T) {
	b := sideBySide(t)
	far := serve(t, b.far, Role{})
	near := start(t, b.near, Role{Load: endless, To: []netip.Addr{b.to}})
	time.Sleep(settle)
	far.cmd.Process.Kill()
	got := near.wait()
	if want := "10.7.1.2 is gone: its process has ended"; got.Error != want {
		t.Errorf("error %q, want %q", got.Error, want)
	}
	if got.Report.Latency.Count == 0 {
		t.Error("the report has nothing of what came before")
	}
}

func TestServerThatIsStoppedSaysSo(t *testing.T) {
	b := sideBySide(t)
	far := serve(t, b.far, Role{})
	near := start(t, b.near, Role{Load: endless, To: []netip.Addr{b.to}})
	time.Sleep(settle)
	served := far.stop()
	if got := near.wait(); got.Error != "10.7.1.2: it has been stopped" {
		t.Errorf("error %q", got.Error)
	}
	if served.Error != "" || len(served.Served.Visits) != 1 || served.Served.Totals.Delivered == 0 {
		t.Errorf("the serving end: %+v", served)
	}
	if n := icmpSent(t, b.near) + icmpSent(t, b.far); n != 0 {
		t.Errorf("the kernels have answered %d times", n)
	}
}

// A sender that dies in the middle of messages leaves no trace in those that come after.
func TestSenderThatDiesIsForgotten(t *testing.T) {
	b := sideBySide(t)
	far := serve(t, b.far, Role{})
	for range 2 {
		near := start(t, b.near, Role{Load: endless, To: []netip.Addr{b.to}})
		time.Sleep(settle)
		near.cmd.Process.Kill()
		near.cmd.Wait()
		delivered(t, send(t, b.near, Role{Load: few, To: []netip.Addr{b.to}}), few)
	}
	v := far.stop().Served.Visits
	if len(v) != 4 {
		t.Fatalf("%d visits, want 4", len(v))
	}
	for i, want := range []string{"its process has ended", "", "its process has ended", ""} {
		if v[i].Error != want {
			t.Errorf("visit %d: error %q, want %q", i, v[i].Error, want)
		}
	}
}

// An interface that goes down ends the endpoint on it at once, and the other one when it
// has heard nothing for some time.
func TestInterfaceThatGoesDownEndsBoth(t *testing.T) {
	b := sideBySide(t)
	far := serve(t, b.far, Role{})
	near := start(t, b.near, Role{Load: endless, To: []netip.Addr{b.to}})
	time.Sleep(settle)
	down(t, b.far, farIf)
	if got := far.wait(); !strings.HasPrefix(got.Error, "interface "+farIf) || !strings.Contains(got.Error, "down") {
		t.Errorf("the serving end: error %q", got.Error)
	}
	if got := near.wait(); got.Error != "10.7.1.2 is gone: silent for 5s" {
		t.Errorf("the sending end: error %q", got.Error)
	}
}

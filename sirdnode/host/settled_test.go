package host

import (
	"bytes"
	"testing"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A waiting transport has nothing to send, and waits until a time.
type waiting struct {
	until units.Time
	sink  transport.Sink
}

func (w *waiting) Send(now transport.Time, m transport.Message)              { w.sink.Acked(now, m) }
func (w *waiting) Receive(transport.Time, *transport.Packet)                 {}
func (w *waiting) Next(now transport.Time, p *transport.Packet) (ready bool) { return false }
func (w *waiting) Wake() transport.Time                                      { return w.until }

// A host whose messages are all acknowledged is not settled while its transport
// waits, as for credit to come back; and its log ends with the gauges as they
// then are.
func TestHostIsSettledWhenItsTransportIs(t *testing.T) {
	fabric, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	var w *waiting
	credit := 9000.0
	protocol := transport.Protocol{
		Name: "waiting", DefaultParams: func(*topo.Fabric) any { return nil },
		New: func(env transport.Env, _ any) (transport.Transport, error) {
			w = &waiting{until: 100, sink: env.Sink}
			env.Sink.Gauge("credit", func() float64 { return credit })
			return w, nil
		},
	}
	var log bytes.Buffer
	h, err := New(Config{Fabric: fabric, Protocol: protocol, To: 10, GaugeEvery: 50}, record.NewWriter(&log))
	if err != nil {
		t.Fatal(err)
	}
	h.Advance(0)
	h.Sample(0)
	h.Offer(0, 1, 1000, traffic.Tag(0))
	if !h.Done() || h.Settled() {
		t.Errorf("done %v, settled %v: want true, false", h.Done(), h.Settled())
	}
	w.until, credit = units.Never, 0
	if !h.Settled() {
		t.Error("not settled, and nothing to wait for")
	}
	if err := h.Finish(120); err != nil {
		t.Fatal(err)
	}
	var values []float64
	for r, err := range record.Read(&log) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == record.Gauge && r.Peer == 1 {
			values = append(values, r.Float())
		}
	}
	if len(values) != 2 || values[0] != 9000 || values[1] != 0 {
		t.Errorf("the gauge was %v: want 9000, and 0 at the end", values)
	}
}

package host

import (
	"io"
	"slices"
	"testing"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A noted keeps what a Watcher is told.
type noted struct {
	intact  []bool
	arrived []transport.MessageID
	failed  []string
}

func (n *noted) Data(_ transport.Message, _ int, intact bool) { n.intact = append(n.intact, intact) }
func (n *noted) Delivered(m transport.Message)                { n.arrived = append(n.arrived, m.ID) }
func (n *noted) Failed(_ units.Time, _ transport.Message, reason string) {
	n.failed = append(n.failed, reason)
}

// silence is a Source without messages.
type silence struct{}

func (silence) NextAt() units.Time                { return units.Never }
func (silence) Pop() (traffic.Arrival, bool)      { return traffic.Arrival{}, false }
func (silence) Err() error                        { return nil }
func (silence) Completed(traffic.Tag, units.Time) {}
func (silence) ReplySize(traffic.Tag) units.Bytes { return 0 }

// Payloads are told apart by the numbers of hosts, not by their IDs.
func TestWatcherLearnsWhichPayloadIsIntact(t *testing.T) {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: units.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	number := func(h topo.HostID) topo.HostID { return 100 + h }
	w := &noted{}
	a, err := NewApplication(Config{Fabric: f, Source: silence{}, Number: number, Watch: w, To: units.Never},
		record.NewWriter(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	m := transport.Message{ID: 5, Peer: 1, Size: 40}
	a.Data(0, m, 0, 20, Payload(101, 100, 5, 0, 20))
	a.Data(0, m, 20, 20, Payload(1, 0, 5, 20, 20))
	a.Delivered(0, m)
	a.Failed(0, transport.Message{Peer: 1}, "gone")
	if want := []bool{true, false}; !slices.Equal(w.intact, want) {
		t.Errorf("intact: %v, want %v", w.intact, want)
	}
	if !slices.Equal(w.arrived, []transport.MessageID{5}) || !slices.Equal(w.failed, []string{"gone"}) {
		t.Errorf("arrived %v, failed %q", w.arrived, w.failed)
	}
	if n := a.Counts().Mismatches; n != 1 {
		t.Errorf("%d mismatches, want 1", n)
	}
}

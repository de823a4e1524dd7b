package traffic

import (
	"errors"
	"strings"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

const (
	ms  = units.Millisecond
	us  = units.Microsecond
	end = 20 * ms
)

// paper is the fabric of the paper's simulations, rack a single one of 8 hosts.
var (
	paperSpec = topo.Spec{Leaves: 9, HostsPerLeaf: 16, Spines: 4, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500}
	rackSpec = topo.Spec{Leaves: 1, HostsPerLeaf: 8, HostRate: 100 * units.Gbps, HostDelay: 4135}
)

func fabric(t testing.TB, spec topo.Spec) *topo.Fabric {
	t.Helper()
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func source(t testing.TB, f *topo.Fabric, seed uint64, self topo.HostID, until units.Time, streams ...Stream) *Source {
	t.Helper()
	s, err := NewSource(f, streams, seed, self, until)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drain pops a source empty, checking the order and what holds of every
// arrival.
func drain(t testing.TB, s *Source, self topo.HostID) (all []Arrival) {
	t.Helper()
	var last units.Time
	for at := s.NextAt(); at != units.Never; at = s.NextAt() {
		a, ok := s.Pop()
		if !ok || a.At != at || at < last || a.Dst == self || a.Size < 1 {
			t.Fatalf("at %v after %v: popped %+v, %v", at, last, a, ok)
		}
		if a.Reply != s.ReplySize(a.Tag) {
			t.Fatalf("%+v is answered with %v", a, s.ReplySize(a.Tag))
		}
		last, all = at, append(all, a)
	}
	if _, ok := s.Pop(); ok {
		t.Fatal("popped a message when none was left")
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return all
}

func arrivals(
	t testing.TB, f *topo.Fabric, seed uint64, self topo.HostID, until units.Time, streams ...Stream,
) []Arrival {
	t.Helper()
	return drain(t, source(t, f, seed, self, until, streams...), self)
}

// wantField checks that err is a *FieldError about a field, for a reason that
// contains a text.
func wantField(t *testing.T, err error, field, text string) {
	t.Helper()
	e, ok := errors.AsType[*FieldError](err)
	if !ok || e.Field != field || !strings.Contains(e.Reason, text) {
		t.Errorf("got %v, want an error of %q with %q", err, field, text)
	}
}

func totalBytes(all []Arrival) (sum units.Bytes) {
	for _, a := range all {
		sum += a.Size
	}
	return sum
}

package results

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// courseFold is a Fold of 40 us in a rack, a part of whose Course is 1 us.
func courseFold(t *testing.T, hosts int) *Fold {
	t.Helper()
	x := emu.Experiment{
		Protocol: "none", Duration: 40 * units.Microsecond,
		Topology: topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100e9, HostDelay: units.Microsecond},
	}
	f, err := NewFold(&x, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// gauged takes samples of a host's gauge, one every 500 ns from 0.
func gauged(f *Fold, h topo.HostID, number uint16, name string, values ...float64) {
	f.take(h, &record.Record{Kind: record.GaugeName, Peer: number, Text: name})
	for i, v := range values {
		f.take(h, &record.Record{
			Kind: record.Gauge, At: units.Time(i) * 500, Peer: number, N: int64(math.Float64bits(v)),
		})
	}
	f.l.hosts[h].end = 40 * units.Microsecond
}

// repeated is a list of n times the same.
func repeated(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// Of each gauge a Course has the mean over a part, summed over hosts, until one has no
// sample; and each host's where there are few.
func TestCourseOfGauges(t *testing.T) {
	for _, c := range []struct {
		name   string
		hosts  int
		record func(*Fold)
		gauges map[string][]float64
		host   map[string][]float64 // of h1-2; nil: no hosts
	}{
		{"means of parts, summed over hosts", 3, func(f *Fold) {
			gauged(f, 0, 0, "credit", 1, 3, 10, 10)
			gauged(f, 1, 0, "credit", 0, 100, 0, 1)
		}, map[string][]float64{"credit": {52, 10.5}}, map[string][]float64{"credit": {50, 0.5}}},
		{"two gauges of a host", 2, func(f *Fold) {
			gauged(f, 1, 0, "held", 4, 4)
			gauged(f, 1, 1, "out", 5, 7)
		}, map[string][]float64{"held": {4}, "out": {6}}, map[string][]float64{"held": {4}, "out": {6}}},
		{"a host without samples ends the sum", 2, func(f *Fold) {
			gauged(f, 0, 0, "credit", 1, 1, 1, 1, 1, 1)
			gauged(f, 1, 0, "credit", 2, 2)
		}, map[string][]float64{"credit": {3}}, map[string][]float64{"credit": {2}}},
		{"up to the end of the window", 2, func(f *Fold) { gauged(f, 1, 0, "credit", repeated(7, 100)...) },
			map[string][]float64{"credit": repeated(7, 40)}, map[string][]float64{"credit": repeated(7, 40)}},
		{"payload and single peers are left out", 2, func(f *Fold) {
			gauged(f, 1, 0, PayloadGauge, 1, 1)
			gauged(f, 1, 1, "out/h1-1", 5, 7)
		}, map[string][]float64{}, map[string][]float64{}},
		{"what is no number does not count", 2, func(f *Fold) {
			gauged(f, 1, 0, "rate", 2, math.NaN(), math.Inf(1), 3)
		}, map[string][]float64{"rate": {2, 3}}, map[string][]float64{"rate": {2, 3}}},
		{"single hosts of few", 5, func(f *Fold) { gauged(f, 1, 0, "credit", 1, 1) },
			map[string][]float64{"credit": {1}}, nil},
		{"no gauges", 2, func(*Fold) {}, map[string][]float64{}, map[string][]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := courseFold(t, c.hosts)
			c.record(f)
			got := f.Variant(nil).Course
			if !reflect.DeepEqual(got.Gauges, c.gauges) {
				t.Errorf("gauges %v, want %v", got.Gauges, c.gauges)
			}
			if c.host == nil {
				if got.Hosts != nil {
					t.Errorf("hosts %v, want none", slices.Sorted(maps.Keys(got.Hosts)))
				}
				return
			}
			if host := got.Hosts["h1-2"]; len(got.Hosts) != c.hosts || !reflect.DeepEqual(host.Gauges, c.host) {
				t.Errorf("%d hosts, h1-2 has %v, want %d, %v", len(got.Hosts), host.Gauges, c.hosts, c.host)
			}
		})
	}
}

// What the hosts of a Course have received is together what it has.
func TestCourseOfHosts(t *testing.T) {
	f := courseFold(t, 2)
	gauged(f, 0, 0, PayloadGauge, 0, 100, 150, 150)
	gauged(f, 1, 0, PayloadGauge, 7, 7, 7, 7, 7, 9)
	c := f.Variant(nil).Course
	for host, want := range map[string][]float64{"h1-1": {100, 50, 0}, "h1-2": {7, 0, 2}} {
		if got := c.Hosts[host].Received[:3]; !slices.Equal(got, want) {
			t.Errorf("%s received %v, want %v", host, got, want)
		}
	}
	if got, want := c.Received[:3], []float64{107, 50, 2}; !slices.Equal(got, want) {
		t.Errorf("received %v, want %v", got, want)
	}
}

package param

import (
	"math"
	"strings"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func TestParametersOutOfRangeAreNamed(t *testing.T) {
	for _, v := range []float64{0.99, 2.01, math.NaN(), math.Inf(1)} {
		if err := InRange("gain", v, 1, 2); err == nil || !strings.HasPrefix(err.Error(), "gain is ") ||
			!strings.HasSuffix(err.Error(), "want 1 to 2") {
			t.Errorf("%v: %v", v, err)
		}
	}
	if InRange("gain", 1.0, 1, 2) != nil || InRange("gain", 2.0, 1, 2) != nil ||
		InRange("wait", units.Millisecond, 0, units.Second) != nil {
		t.Error("a value in range is refused")
	}
	if err := OneOf("ecn", "some", "all", "none"); err == nil ||
		err.Error() != `ecn is "some": want one of ["all" "none"]` {
		t.Errorf("got %v, want that some is none of all and none", err)
	}
	if OneOf("ecn", "none", "all", "none") != nil {
		t.Error("an allowed value is refused")
	}
}

// SIRD's evaluation has 100 KB at 100 Gbps; longer fabrics have their own.
func TestEvaluatedBDP(t *testing.T) {
	for _, c := range []struct {
		rate  units.BitsPerSecond
		delay units.Time
		want  transport.Bytes
	}{{100 * units.Gbps, 1000, 100_000}, {25 * units.Gbps, 1000, 25_000}, {400 * units.Gbps, 1000, 400_000},
		{100 * units.Gbps, 10_000, 0}} {
		f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: c.rate, HostDelay: c.delay})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == 0 {
			c.want = f.BDP()
		}
		if got := EvaluatedBDP(f); got != c.want || got < f.BDP() {
			t.Errorf("%v, %v: %d, want %d", c.rate, c.delay, got, c.want)
		}
	}
}

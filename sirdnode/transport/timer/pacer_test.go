package timer

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

func TestPacerKeepsItsRateToThePicosecond(t *testing.T) {
	p := Pacer{Rate: 100 * units.Gbps}
	for i := range 1000 {
		if want := transport.Time((int64(i)*123040 + 999) / 1000); p.At() != want {
			t.Fatalf("packet %d at %v, want %v", i, p.At(), want)
		}
		p.Sent(p.At(), 1538, transport.Time(1))
	}
}

func TestPacerCatchesUpWithinItsSlack(t *testing.T) {
	p := Pacer{Rate: 8 * units.Gbps} // 1 ns a byte
	p.Sent(0, 100, 0)
	p.Sent(1000, 100, 300) // 900 late, 300 forgiven: through at 800
	if p.At() != 800 {
		t.Errorf("next at %v, want 800ns", p.At())
	}
}

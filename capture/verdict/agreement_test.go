package verdict

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"sirdbed/capture"
	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/internal/leafsim"
	"sirdbed/capture/metric"
	"sirdbed/capture/results"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// Samples taken from the simulated queue agree with the one rebuilt from its
// capture; samples shifted by three packets do not.
func TestSamplesAgreeWithCapture(t *testing.T) {
	for _, c := range []struct {
		shift int64
		level results.Level
	}{{0, results.Pass}, {2, results.Pass}, {3, results.Degraded}} {
		t.Run(fmt.Sprintf("shifted by %d packets", c.shift), func(t *testing.T) {
			r := fakerun.New(t, fakerun.OneWay)
			r.X.Warmup, r.X.Duration, r.X.Drain = 0, 100*us, 0
			r.Facts.Reached = 100 * us
			for i := range r.Facts.Ports {
				r.Facts.Ports[i].WireBytes = 0
			}
			s := leafsim.Simulate(r.F, 2000, 1000, rand.New(rand.NewPCG(3, 3)))
			port := r.F.Downlink(1)
			truth := &capture.PortQueue{Series: s.Truth[port.ID]}
			for at := units.Time(0); at < 100*us; at += us {
				// A kernel is asked port by port, a while after the tick began.
				read := at + 300
				for _, p := range r.F.Ports {
					d, shift := (&capture.PortQueue{Series: s.Truth[p.ID]}).At(read), int64(0)
					if p.ID == port.ID {
						shift = c.shift
					}
					if p.Node == port.Node {
						r.Queues = append(r.Queues, record.Record{Kind: record.Queue, Peer: uint16(p.ID), At: read,
							ID: uint32(int64(d.Packets) + shift), N: d.Bytes})
					}
				}
				r.Queues = append(r.Queues, record.Record{Kind: record.Tick, At: at})
			}
			dir := r.Write(t)
			leaf, _ := r.F.Node("leaf1")
			must(t, os.MkdirAll(filepath.Join(dir, "captures"), 0o755))
			file, err := os.Create(filepath.Join(dir, "captures", "leaf1.pcapng"))
			must(t, err)
			w, err := capture.Create(file, r.F, leaf)
			must(t, err)
			for _, fr := range s.Frames {
				must(t, w.Packet(fr.Port, fr.At, fr.Out, fr.Len, fr.Data))
			}
			must(t, w.Close())
			v, err := analyze(t, dir, results.Options{Framing: fakerun.Framing, SampleTolerance: 1})
			must(t, err)
			if len(v.Agreements) != 3 || v.Verdict.Level != c.level {
				t.Errorf("got %+v, %s %v; want %s of 3 ports", v.Agreements, v.Verdict.Level, v.Verdict.Reasons,
					c.level)
			}
			value, err := metric.Metric{Name: "exact_queue_bytes", Host: "h1-2"}.Eval(v)
			if most, _ := truth.Between(0, 100*us); err != nil || int64(value) != most.Bytes || value == 0 {
				t.Errorf("the deepest was %v, want %v (%v)", value, most.Bytes, err)
			}
		})
	}
}

package results

import (
	"strings"

	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/topo"
)

// readCaptures rebuilds the queues of every captured switch.
func (v *Variant) readCaptures(dir emu.RunDir, opt Options) {
	files, err := dir.List(emu.Captures)
	if err != nil {
		return // nothing was captured
	}
	for _, file := range files {
		name, ok := strings.CutSuffix(file.Name(), ".pcapng")
		if !ok {
			continue
		}
		node, ok := v.Fabric.Node(name)
		if !ok {
			v.logs.problem(CaptureCut, "%s is not named as a node of the fabric", file.Name())
			continue
		}
		if node.Kind == topo.Host {
			continue // for people to read
		}
		captured, err := dir.Open(emu.CaptureFile(name))
		if err != nil {
			v.logs.problem(CaptureCut, "%v", err)
			continue
		}
		r, err := capture.Reconstruct(v.Fabric, node, capture.Frames(captured, v.Fabric))
		if err != nil {
			v.logs.problem(CaptureCut, "%v", err)
		}
		if r == nil || r.Frames == 0 {
			continue
		}
		v.Captures = append(v.Captures, r)
		for _, q := range r.Ports {
			// A capture of single ports has departures without arrivals.
			if q.Packets == 0 || q.Local > q.Packets {
				continue
			}
			if a := v.Queues.Compare(q, max(v.From, r.From), min(v.To, r.To), opt.SampleTolerance); a.Samples > 0 {
				v.Agreements = append(v.Agreements, a)
			}
		}
	}
}

package model

import (
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A tap hands the packets of a port to a capture, as frames.
type tap struct {
	capture capture
	snap    int // bytes kept of a frame, 0: all
}

// capture is emu.Capture's part.
type capture interface {
	Packet(port *topo.Port, at units.Time, out bool, wire int, frame []byte) error
}

// tap shows a packet to the taps of a port: out when it starts to leave through
// it, in when it has arrived over its link in full. That is what a tap on a
// Linux interface sees.
func (s *Sim) tap(taps []tap, at *port, q *packet, ps int64, out bool) {
	link := at.info
	if !out {
		link = s.ports[at.info.Reverse].info
	}
	frame := s.frames.encode(q, link)
	for _, t := range taps {
		kept := frame
		if t.snap > 0 {
			kept = frame[:min(t.snap, len(frame))]
		}
		if err := t.capture.Packet(at.info, nearest(ps), out, len(frame), kept); err != nil && s.tapErr == nil {
			s.tapErr = err
		}
	}
}

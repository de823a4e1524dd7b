package model

import (
	"errors"

	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
)

// A framer turns packets into the frames that they would be on a wire. Nothing
// on the way changes a frame but marks and faults, so one is made only where
// someone looks at it.
type framer struct {
	fabric *topo.Fabric
	proto  wire.Protocol
	buf    []byte
	frame  wire.Frame
}

func newFramer(f *topo.Fabric, p transport.Protocol) framer {
	return framer{fabric: f, proto: p.Wire, buf: make([]byte, wire.HeaderOffset+transport.MaxHeader+int(f.Spec.MTU))}
}

// encode returns p as it crosses the link of port, valid until the next call.
func (f *framer) encode(p *packet, link *topo.Port) []byte {
	w := &f.frame
	*w = wire.Frame{
		SrcMAC:  link.MAC,
		DstMAC:  f.fabric.Ports[link.Reverse].MAC,
		SrcAddr: f.fabric.HostAddr(p.src, 0),
		DstAddr: f.fabric.HostAddr(p.dst, p.Spine),
		Entropy: p.source, Port: f.proto.Port, ID: p.serial,
		Priority: p.Priority, ECN: wire.Marking(p.ECT, p.CE), Credit: p.Credit,
		Header: p.Header(),
	}
	w.Payload = f.buf[wire.HeaderOffset+p.HeaderLen:][:p.PayloadLen]
	if p.PayloadLen > 0 {
		host.FillPayload(w.Payload, p.src, &p.Packet)
	}
	return f.buf[:w.Encode(f.buf)]
}

// errForeign is the error of an intact frame that is not the host's own.
var errForeign = errors.New("not of the protocol, or for another host")

// decode fills in p from a frame that arrived at self. p.Payload points into the
// frame.
func (f *framer) decode(frame []byte, self topo.HostID, p *packet) error {
	w := &f.frame
	if err := w.Decode(frame, 1, f.proto.HeaderLen); err != nil {
		return err
	}
	dst, spine, ok := f.fabric.HostOf(w.DstAddr)
	src, _, known := f.fabric.HostOf(w.SrcAddr)
	if w.Port != f.proto.Port || !ok || !known || dst != self || len(w.Header) > transport.MaxHeader {
		return errForeign
	}
	p.src, p.Spine, p.source, p.Priority = src, spine, w.Entropy, w.Priority
	p.ECT, p.CE, p.Credit = w.ECN != wire.NotECT, w.ECN == wire.CE, w.Credit
	p.HeaderLen = copy(p.HeaderBytes[:], w.Header)
	p.Payload, p.PayloadLen = w.Payload, len(w.Payload)
	return nil
}

// unwrap has p arrive as a frame, with a bit flipped if flip is not negative,
// and reports whether the host's checks let it pass.
func (h *endpoint) unwrap(p *packet, flip int) bool {
	f := &h.sim.frames
	frame := f.encode(p, h.sim.ports[h.nic.info.Reverse].info)
	fault.Flip(frame, flip)
	switch err := f.decode(frame, h.id, p); {
	case err == nil:
		return true
	case err == errForeign:
		h.stats.Foreign++
	default:
		h.stats.Corrupt++
	}
	return false
}

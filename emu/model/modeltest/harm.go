package modeltest

import (
	"encoding/binary"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
)

// frame makes the next frame for a host: a real one as it is or harmed, or one of
// random bytes. It is valid until the next call.
func (a *attack) frame(to topo.HostID) []byte {
	var real []byte
	if a.frames > 0 {
		real = a.sent[a.rng.IntN(min(a.frames, len(a.sent)))]
	}
	if real == nil || a.rng.IntN(20) == 0 {
		return a.random(to)
	}
	w := wire.Frame{}
	if err := w.Decode(real, 1, a.subject.Protocol.Wire.HeaderLen); err != nil {
		panic(err) // a host sent it
	}
	if a.rng.IntN(4) == 0 { // as it was, now or long ago, or flipped on the way
		frame := append(a.buf[:0], real...)
		if a.rng.IntN(8) == 0 {
			frame[a.rng.IntN(len(frame))] ^= 1 << a.rng.IntN(8)
			frame = frame[:a.rng.IntN(len(frame)+1)]
		}
		return frame
	}
	header := append(make([]byte, 0, transport.MaxHeader), w.Header...)
	for range 1 + a.rng.IntN(3) {
		a.harm(header)
	}
	w.Header = header
	w.Payload = a.payload(w.Payload)
	if a.rng.IntN(2) == 0 {
		w.DstAddr = a.fabric.HostAddr(to, 0)
	}
	switch a.rng.IntN(8) {
	case 0: // of any host, the receiver too
		w.SrcAddr = a.fabric.HostAddr(topo.HostID(a.rng.IntN(len(a.fabric.Hosts))), 0)
	case 1:
		w.ECN, w.Priority = wire.CE, uint8(a.rng.IntN(8))
	}
	return a.buf[:w.Encode(a.buf)]
}

// harm replaces a field of a header.
func (a *attack) harm(header []byte) {
	size := 1 << a.rng.IntN(3)
	if len(header) < size {
		return
	}
	field := header[a.rng.IntN(len(header)-size+1):]
	// The type, which comes first, mostly stays, so that the rest is looked at.
	if len(field) == len(header) && a.rng.IntN(4) != 0 && len(header) > size {
		field = header[size:]
	}
	var value uint64
	switch a.rng.IntN(6) {
	case 0:
		value = 0
	case 1:
		value = 1<<64 - 1
	case 2:
		value = 1 << a.rng.IntN(8*size) // one bit
	case 3:
		value = 1<<a.rng.IntN(8*size) - 1
	case 4:
		value = a.rng.Uint64()
	case 5: // a little more or less
		value = uint64(field[min(size, len(field))-1]) + uint64(a.rng.IntN(5)) - 2
	}
	switch {
	case size == 4 && len(field) >= 4:
		binary.BigEndian.PutUint32(field, uint32(value))
	case size == 2 && len(field) >= 2:
		binary.BigEndian.PutUint16(field, uint16(value))
	default:
		field[0] = byte(value)
	}
}

// payload cuts a payload, or makes it longer.
func (a *attack) payload(p []byte) []byte {
	switch a.rng.IntN(8) {
	case 0:
		return p[:a.rng.IntN(len(p)+1)]
	case 1:
		return make([]byte, a.rng.IntN(1500))
	}
	return append([]byte(nil), p...)
}

// random makes a frame whose header is of random bytes.
func (a *attack) random(to topo.HostID) []byte {
	header := make([]byte, 1+a.rng.IntN(transport.MaxHeader))
	for i := range header {
		header[i] = byte(a.rng.Uint32())
	}
	if a.frames > 0 { // of the version that hosts send
		real := a.sent[a.rng.IntN(min(a.frames, len(a.sent)))]
		header[0] = real[wire.HeaderOffset]&0xf0 | header[0]&0x0f
	}
	w := wire.Frame{
		SrcAddr: a.fabric.HostAddr(topo.HostID(a.rng.IntN(len(a.hosts))), 0), DstAddr: a.fabric.HostAddr(to, 0),
		Port: a.subject.Protocol.Wire.Port, Header: header, Payload: make([]byte, a.rng.IntN(1400)),
	}
	return a.buf[:w.Encode(a.buf)]
}

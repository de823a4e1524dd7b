package host

import (
	"bytes"
	"math/rand/v2"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// A payload is a slice of a fixed pseudo-random text. Which slice depends on the
// message and the offset, so bytes that end up in the wrong message, in the
// wrong place, or damaged, are found at the receiver at the cost of a compare.
const (
	textPeriod = 65521 // prime: no packet size divides it
	textSlack  = 16 << 10
)

var text = func() []byte {
	chacha := rand.NewChaCha8([32]byte([]byte("the payload of every sirdbed run")))
	t := make([]byte, textPeriod+textSlack)
	chacha.Read(t[:textPeriod])
	copy(t[textPeriod:], t[:textSlack])
	return t
}()

// Payload returns n bytes of message id from src to dst, from offset on. The
// result is shared and must not be changed. n is at most 16 KiB.
func Payload(src, dst transport.HostID, id transport.MessageID, offset units.Bytes, n int) []byte {
	h := (uint64(src)<<48 ^ uint64(dst)<<32 ^ uint64(id)) * 0x9e3779b97f4a7c15
	at := (h>>20 + uint64(offset)) % textPeriod
	return text[at : at+uint64(n)]
}

// FillPayload writes the payload of a packet from self into buf, which must
// have room for it.
func FillPayload(buf []byte, self transport.HostID, p *transport.Packet) {
	copy(buf, Payload(self, p.Peer, p.ID, p.Offset, p.PayloadLen))
}

// payloadIntact reports whether data is what the sender filled in.
func payloadIntact(data []byte, src, dst transport.HostID, id transport.MessageID, offset units.Bytes) bool {
	return bytes.Equal(data, Payload(src, dst, id, offset, len(data)))
}

package fakerun

import (
	"errors"

	"sirdbed/sirdnode/wire"
	"sirdbed/sirdnode/wire/layer"
	"sirdbed/topo"
)

// port is that of protocol TEST, with a header of 4 bytes, all 0x7e.
const port = 47999

func init() {
	layer.Register(wire.Protocol{
		Name: "TEST", Port: port,
		HeaderLen: func(b []byte) (int, error) {
			if len(b) < 4 || b[0] != 0x7e {
				return 0, errors.New("no TEST header")
			}
			return 4, nil
		},
		Header: &wire.Header{
			Types:  []wire.Type{{Value: 0x7e, Name: "DATA", Len: 4}},
			Fields: []wire.Field{{Name: "second", At: 1}},
		},
	})
}

// Frame is a valid frame from src to dst over a port.
func Frame(f *topo.Fabric, src, dst topo.HostID, id uint16, priority uint8, payload int) []byte {
	fr := wire.Frame{
		SrcAddr: f.HostAddr(src, 0), DstAddr: f.HostAddr(dst, 0),
		Entropy: 1000 + id, Port: port, ID: id, Priority: priority, ECN: wire.ECT,
		Header: []byte{0x7e, 0x7e, 0x7e, 0x7e}, Payload: make([]byte, payload),
	}
	buf := make([]byte, fr.Len())
	return buf[:fr.Encode(buf)]
}

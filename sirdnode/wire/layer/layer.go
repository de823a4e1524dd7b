// Package layer takes frames apart with gopacket, down to the transport headers
// of protocols that are registered. Host processes do without it:
// gopacket/layers fills 7 MB of tables when a program starts.
package layer

import (
	"sync"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"sirdbed/sirdnode/wire"
)

// base is the first gopacket layer number used; gopacket reserves those above
// 1000 for others' layers.
const base = 4700

var registered struct {
	sync.Mutex
	n int
}

// Register makes a protocol known to gopacket, by its port. It is called before
// frames are decoded, such as from a test's init.
func Register(p wire.Protocol) {
	registered.Lock()
	defer registered.Unlock()
	d := &decoder{protocol: p}
	d.layer = gopacket.RegisterLayerType(base+registered.n, gopacket.LayerTypeMetadata{
		Name:    p.Name,
		Decoder: gopacket.DecodeFunc(d.decode),
	})
	layers.RegisterUDPPortLayerType(layers.UDPPort(p.Port), d.layer)
	registered.n++
}

// Decode takes a frame apart, from its Ethernet header on: see
// gopacket.NewPacket. It is safe for concurrent use.
func Decode(frame []byte, options gopacket.DecodeOptions) gopacket.Packet {
	return gopacket.NewPacket(frame, layers.LayerTypeEthernet, options)
}

// A Transport is a transport's header as a gopacket layer.
type Transport struct {
	layers.BaseLayer
	Protocol *wire.Protocol // whose Header has the fields of Bytes
	CRC      [wire.CRCLen]byte

	layer gopacket.LayerType
}

// Bytes is the transport's header alone.
func (t *Transport) Bytes() []byte { return t.Contents[wire.CRCLen:] }

// LayerType implements gopacket.Layer.
func (t *Transport) LayerType() gopacket.LayerType { return t.layer }

type decoder struct {
	protocol wire.Protocol
	layer    gopacket.LayerType
}

func (d *decoder) decode(data []byte, b gopacket.PacketBuilder) error {
	if len(data) < wire.CRCLen {
		b.SetTruncated()
		return wire.ErrTruncated
	}
	n, err := d.protocol.HeaderLen(data[wire.CRCLen:])
	if err != nil {
		return err
	}
	if n += wire.CRCLen; n > len(data) {
		b.SetTruncated()
		return wire.ErrTruncated
	}
	b.AddLayer(&Transport{
		BaseLayer: layers.BaseLayer{Contents: data[:n], Payload: data[n:]},
		Protocol:  &d.protocol,
		CRC:       [wire.CRCLen]byte(data),
		layer:     d.layer,
	})
	return b.NextDecoder(gopacket.LayerTypePayload)
}

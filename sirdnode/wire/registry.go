package wire

import (
	"fmt"
	"sort"
	"sync"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// A Field is one field of a transport header, for people to read.
type Field struct {
	Name  string
	Value string
}

// A Protocol is what wire has to know of a transport so that captures can be
// read: its UDP port and how to take its header apart.
type Protocol struct {
	Name string // "SIRD"
	Port uint16 // UDP destination port
	// HeaderLen returns the length of the header that b begins with. It must
	// fail, not panic, on hostile input.
	HeaderLen func(b []byte) (int, error)
	// Fields names the header's fields; b is exactly one header.
	Fields func(b []byte) []Field
}

// layerBase is the first gopacket layer number used; gopacket reserves those
// above 1000 for others' layers.
const layerBase = 4700

var registry struct {
	sync.RWMutex
	byPort map[uint16]*registered
}

type registered struct {
	Protocol
	layer gopacket.LayerType
}

// Register makes a protocol known, to gopacket too. It is called from a
// protocol package's init and panics when the port is taken.
func Register(p Protocol) {
	registry.Lock()
	defer registry.Unlock()
	if registry.byPort == nil {
		registry.byPort = map[uint16]*registered{}
	}
	if old, ok := registry.byPort[p.Port]; ok {
		panic(fmt.Sprintf("wire: port %d belongs to %s, so %s can't have it", p.Port, old.Name, p.Name))
	}
	r := &registered{Protocol: p}
	r.layer = gopacket.RegisterLayerType(layerBase+len(registry.byPort), gopacket.LayerTypeMetadata{
		Name:    p.Name,
		Decoder: gopacket.DecodeFunc(r.decode),
	})
	layers.RegisterUDPPortLayerType(layers.UDPPort(p.Port), r.layer)
	registry.byPort[p.Port] = r
}

// Protocols lists the registered protocols by port.
func Protocols() []Protocol {
	registry.RLock()
	defer registry.RUnlock()
	var list []Protocol
	for _, r := range registry.byPort {
		list = append(list, r.Protocol)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Port < list[j].Port })
	return list
}

// A TransportLayer is a transport's header as a gopacket layer.
type TransportLayer struct {
	layers.BaseLayer
	Protocol string
	CRC      [crcLen]byte
	Fields   []Field

	layer gopacket.LayerType
}

// LayerType implements gopacket.Layer.
func (l *TransportLayer) LayerType() gopacket.LayerType { return l.layer }

func (r *registered) decode(data []byte, b gopacket.PacketBuilder) error {
	if len(data) < crcLen {
		b.SetTruncated()
		return ErrTruncated
	}
	n, err := r.HeaderLen(data[crcLen:])
	if err != nil {
		return err
	}
	if n += crcLen; n > len(data) {
		b.SetTruncated()
		return ErrTruncated
	}
	l := &TransportLayer{
		BaseLayer: layers.BaseLayer{Contents: data[:n], Payload: data[n:]},
		Protocol:  r.Name,
		CRC:       [crcLen]byte(data),
		Fields:    r.Fields(data[crcLen:n]),
		layer:     r.layer,
	}
	b.AddLayer(l)
	return b.NextDecoder(gopacket.LayerTypePayload)
}

package wire

import (
	"fmt"
	"sort"
	"sync"
)

// A Field is one field of a transport header, for people to read.
type Field struct {
	Name  string
	Value string
}

// A Protocol is what captures need of a transport: its UDP port, and how to decode
// its header.
type Protocol struct {
	Name string // "SIRD"
	Port uint16 // UDP destination port
	// HeaderLen returns the length of the header that b begins with. It must
	// fail, not panic, on hostile input.
	HeaderLen func(b []byte) (int, error)
	// Fields names the header's fields; b is exactly one header.
	Fields func(b []byte) []Field
}

var registry struct {
	sync.RWMutex
	byPort map[uint16]Protocol
}

// Register adds a protocol. It is called from a protocol package's init
// and panics when the port is taken.
func Register(p Protocol) {
	registry.Lock()
	defer registry.Unlock()
	if registry.byPort == nil {
		registry.byPort = map[uint16]Protocol{}
	}
	if old, ok := registry.byPort[p.Port]; ok {
		panic(fmt.Sprintf("wire: port %d belongs to %s, so %s can't have it", p.Port, old.Name, p.Name))
	}
	registry.byPort[p.Port] = p
}

// Protocols lists the registered protocols by port.
func Protocols() []Protocol {
	registry.RLock()
	defer registry.RUnlock()
	var list []Protocol
	for _, p := range registry.byPort {
		list = append(list, p)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Port < list[j].Port })
	return list
}

package wire

// A Protocol is what wire has to know of a transport so that captures can be
// read: its UDP port and how to take its header apart.
type Protocol struct {
	Name string // "SIRD"
	Port uint16 // UDP destination port
	// HeaderLen returns the length of the header that b begins with. It must
	// fail, not panic, on hostile input.
	HeaderLen func(b []byte) (int, error)
	// Header has the names and places of the header's fields. It is shared, and not changed.
	Header *Header
}

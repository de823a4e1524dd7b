package wire

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

package host

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Programs take what becomes of the messages of programs, which have bytes of their own.
// They are called from inside the transport's methods: what they send, they Offer later.
type Programs interface {
	// Data takes payload that has arrived for the first time, and is valid during the call.
	Data(m transport.Message, offset units.Bytes, data []byte)
	// Delivered reports whether a message that has arrived is what was sent.
	Delivered(m transport.Message) (intact bool)
	// Acked and Failed are the end of a message that was sent from here.
	Acked(m transport.Message)
	Failed(m transport.Message, reason string)
	// Fill writes the payload of a packet into buf.
	Fill(buf []byte, p *transport.Packet)
}

// Serve has the messages of programs be those of p. It comes before any of them.
func (a *Application) Serve(p Programs) { a.programs = p }

// ofPrograms reports whether a message is one of programs.
func (a *Application) ofPrograms(m transport.Message) bool {
	return a.programs != nil && traffic.Tag(m.Tag).Stream() == traffic.Programs
}

// Fill writes the payload of a packet that leaves here into buf, which has its length.
func (a *Application) Fill(buf []byte, p *transport.Packet) {
	if a.programs != nil && traffic.Tag(p.Tag).Stream() == traffic.Programs {
		a.programs.Fill(buf, p)
		return
	}
	copy(buf, Payload(a.cfg.Number(a.cfg.Self), a.cfg.Number(p.Peer), p.ID, p.Offset, len(buf)))
}

// NextID is the number of the next message to a peer.
func (a *Application) NextID(peer topo.HostID) transport.MessageID { return a.nextID[peer] }

package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An endpoint is what the two roles of a host share.
type endpoint struct {
	env    transport.Env
	params Params
	levels struct{ control, unscheduled, scheduled uint8 } // priorities

	framing topo.Framing
	mss     Bytes               // payload of a full packet
	stride  Bytes               // payload that one CREDIT is for at most
	frame   Bytes               // wire bytes of a full packet
	fastest units.BitsPerSecond // of the hosts' links
	round   Time                // the time that the slowest credit loop takes, with a BDP on its way

	ackDelay Time // how long an acknowledgement waits for others

	control queue.FIFO[controlPacket] // of both roles, in order
	lives   []life                    // by HostID
	debts   []debt                    // the same
	acks    queue.FIFO[ackDue]        // debts that may be due, in order
}

func newEndpoint(env transport.Env, params *Params) (endpoint, error) {
	fr := framing(env.Fabric.Spec.MTU)
	e := endpoint{env: env, params: *params, framing: fr, mss: fr.MSS, frame: fr.Wire(fr.MSS),
		lives: make([]life, len(env.Fabric.Hosts)), debts: make([]debt, len(env.Fabric.Hosts))}
	if err := params.validate(e.frame); err != nil {
		return endpoint{}, err
	}
	e.stride = max(1, min(Bytes(params.CreditPackets), params.BDP/(4*e.frame))) * e.mss
	for _, h := range env.Fabric.Hosts {
		e.fastest = max(e.fastest, env.Fabric.Uplink(h).Rate)
	}
	e.round = max(env.Fabric.LongestLoop(), env.Fabric.Loop().Tail,
		env.Fabric.Downlink(env.Self).Rate.TimeFor(params.BDP))
	e.ackDelay = Time(params.AckDelay * float64(e.round))
	switch params.Priorities {
	case "data":
		e.levels.control, e.levels.unscheduled = 1, 1
	case "control":
		e.levels.control = 1
	}
	return e, nil
}

// wireOf returns the wire bytes of a DATA packet with n bytes of payload.
func (e *endpoint) wireOf(n Bytes) Bytes { return e.framing.Wire(n) }

// wireOfRange returns the wire bytes of the DATA packets that carry n bytes of a
// message, cut at full packets.
func (e *endpoint) wireOfRange(n Bytes) Bytes { return e.framing.WireOf(n) }

// A controlPacket waits to be sent. Its credit total is filled in when it leaves.
type controlPacket struct {
	peer   transport.HostID
	kind   kind
	flags  flags
	id     transport.MessageID
	length Bytes  // of the payload of a first packet that is sent again
	below  uint32 // ACK: acked.below
}

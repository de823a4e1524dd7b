// Package swift is Swift as the paper's evaluation runs it (paper, section
// 6.2): a window that keeps the fabric's round-trip delay at a target, which
// grows with the path's hops and as windows become small, over a pool of
// connections to each peer. The delay is measured by timestamps in packets.
// README.md has its parameters and rules, and where they come from.
//
// control.go is the control law; package flow is the rest of a connection.
// Swift's second window, for congestion at the receiving host, is left out:
// with its released target of 100 s it never acts (README, Window).
package swift

import (
	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
)

// Swift is the protocol at one host. It implements transport.Transport.
type Swift struct {
	*flow.Transport
}

// New makes Swift at one host. It fails, naming the parameter, on parameters
// that cannot work.
func New(env transport.Env, params *Params) (*Swift, error) {
	if err := params.validate(); err != nil {
		return nil, err
	}
	own := *params
	t, err := flow.New(env, flow.Config{
		Connections: own.Connections, MinRTO: own.MinRTO, MaxTimeouts: own.MaxTimeouts,
		UplinkWait: own.UplinkWait, UplinkFIFO: own.UplinkFIFO,
		Controller: func(peer transport.HostID) flow.Controller {
			// All paths to a peer have the same number of switches.
			return newControl(&own, len(env.Fabric.Path(env.Self, peer, 0))-1)
		},
	})
	if err != nil {
		return nil, err
	}
	return &Swift{t}, nil
}

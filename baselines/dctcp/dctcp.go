// Package dctcp is DCTCP as the paper's evaluation runs it (paper, section
// 6.2): a window that is cut in proportion to the share of segments that
// switches marked, over a pool of connections to each peer. README.md has its
// parameters and rules, and where they come from.
//
// control.go is the control law; package flow is the rest of a connection.
package dctcp

import (
	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
)

// DCTCP is the protocol at one host. It implements transport.Transport.
type DCTCP struct {
	*flow.Transport
	controls []*control
}

// New makes DCTCP at one host. It fails, naming the parameter, on parameters
// that cannot work.
func New(env transport.Env, params *Params) (*DCTCP, error) {
	if err := params.validate(env.Fabric.FullFrame()); err != nil {
		return nil, err
	}
	own := *params
	d := &DCTCP{}
	var uplink flow.Bytes
	if own.UplinkMarks {
		uplink = own.K
	}
	var err error
	d.Transport, err = flow.New(env, flow.Config{
		Connections: own.Connections, MinRTO: own.MinRTO, MaxTimeouts: own.MaxTimeouts,
		DelayedAck: own.DelayedAck, SegmentsPerAck: own.SegmentsPerAck, UplinkMark: uplink,
		UplinkFIFO: own.UplinkFIFO,
		Controller: func(transport.HostID) flow.Controller {
			c := newControl(&own)
			d.controls = append(d.controls, c)
			return c
		},
	})
	if err != nil {
		return nil, err
	}
	env.Sink.Gauge("alpha", d.alpha)
	return d, nil
}

// alpha returns the mean alpha of the connections used so far.
func (d *DCTCP) alpha() (mean float64) {
	for _, c := range d.controls {
		mean += c.alpha / float64(len(d.controls))
	}
	return mean
}

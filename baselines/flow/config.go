package flow

import (
	"cmp"
	"errors"
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/topo/limit"
)

// Config is what a protocol chooses of a Transport.
type Config struct {
	Connections    int  // in each ordered pair's pool, 1 to MaxConnections
	MinRTO         Time // least retransmission timeout, 1 ns to limit.MaxSpan
	MaxTimeouts    int  // in a row, that a message survives; 0: the first fails it
	DelayedAck     Time // longest delay of an acknowledgement, less than MinRTO; 0: none is delayed
	SegmentsPerAck int  // full segments that are acknowledged without delay, 1 or more if DelayedAck is set

	// UplinkMark is the ECN step of the host's own queue, 0 for none: of what
	// windows allow and the NIC has not taken (README, Uplink queue).
	UplinkMark Bytes
	// UplinkWait has the delays that a Controller is told begin when window and
	// pacing allow a segment, not when the NIC takes it.
	UplinkWait bool
	// UplinkFIFO has data leave in the order in which windows and pacing allowed it, as
	// from one queue for all connections. Without, connections take turns.
	UplinkFIFO bool

	// Controller makes the control law of a new connection to a peer.
	Controller func(peer transport.HostID) Controller
}

// check names the field that cannot work.
func (c *Config) check() error {
	if err := cmp.Or(
		param.InRange("Connections", c.Connections, 1, MaxConnections),
		param.InRange("MinRTO", c.MinRTO, 1, limit.MaxSpan),
		param.InRange("MaxTimeouts", c.MaxTimeouts, 0, 1<<20),
		param.InRange("DelayedAck", c.DelayedAck, 0, c.MinRTO-1),
		param.InRange("UplinkMark", c.UplinkMark, 0, limit.MaxMark),
	); err != nil {
		return fmt.Errorf("flow.Config: %w", err)
	}
	switch {
	case c.DelayedAck > 0 && c.SegmentsPerAck < 1:
		return fmt.Errorf("flow.Config: SegmentsPerAck is %d: want 1 or more where acknowledgements are delayed",
			c.SegmentsPerAck)
	case c.Controller == nil:
		return errors.New("flow.Config: Controller is nil: want a function that makes a control law")
	}
	return nil
}

package flow

// A Controller is the congestion control law of one connection. It counts in
// segments of one MSS.
type Controller interface {
	// OnMessage begins a message on the connection.
	OnMessage(now Time)
	// OnAck takes an acknowledgement of segments that were not acknowledged
	// before.
	OnAck(now Time, a Ack)
	// OnLoss reports that segments were lost: once for all losses of a window of
	// data.
	OnLoss(now Time)
	// OnTimeout reports that a retransmission timeout has expired, the n-th in a
	// row, from 1.
	OnTimeout(now Time, n int)
	// Window returns how many segments may be in flight. One always may.
	Window() float64
	// Pacing returns the least time between two transmissions, 0 for none.
	Pacing() Time
}

// An Ack is what an acknowledgement means to a Controller.
type Ack struct {
	Segments int  // acknowledged for the first time, at least 1
	Marked   bool // it echoes a mark
	InFlight int  // segments in flight before it arrived

	// Delay is the round trip in the fabric: from the data packet's departure
	// (with Config.UplinkWait, from when it was allowed to depart) to the
	// acknowledgement's arrival, without the time for which the receiver delayed it.
	Delay Time
	// RTT is the same round trip with that time.
	RTT Time

	// Every transmission of a connection has a number. Highest is one more than
	// the highest known to have arrived, Next that of the next transmission. One
	// window of data later, Highest has reached what is now Next.
	Highest, Next uint64

	// Recovering is set until all that was in flight when OnLoss was last called
	// is acknowledged or lost.
	Recovering bool
}

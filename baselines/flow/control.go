package flow

// A Controller is a congestion control law, one for each connection. It counts
// in segments, of MSS.
type Controller interface {
	// OnMessage begins a message on the connection.
	OnMessage(now Time)
	// OnAck takes an acknowledgement that brings news.
	OnAck(now Time, a Ack)
	// OnLoss says that segments were lost: once for all those of a window.
	OnLoss(now Time)
	// OnTimeout says that nothing was heard for a retransmission timeout. n
	// counts those in a row, from 1.
	OnTimeout(now Time, n int)
	// Window returns how many segments may be in flight. One may always.
	Window() float64
	// Pacing returns the least time between two transmissions, 0 for none.
	Pacing() Time
}

// An Ack is what an acknowledgement tells a Controller.
type Ack struct {
	Segments int  // that it is the first news of, at least 1
	Marked   bool // the receiver says that these experienced congestion
	InFlight int  // segments in the network before it came

	// Delay is the round trip in the fabric: from the data packet's departure to
	// the acknowledgement's arrival, less the time that the receiver held it.
	Delay Time
	// RTT is the smoothed round trip, holding included.
	RTT Time

	// Every transmission of a connection has a number. Highest is that of the
	// latest one that is known to have arrived, plus one, Next that of the next
	// one. A window later, Highest has passed what is now Next.
	Highest, Next uint64

	// Recovering: what was in flight when OnLoss was last told is not yet
	// through.
	Recovering bool
}

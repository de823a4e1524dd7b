package transport

// A Driver runs kernel TCP through its sockets. It takes messages and reports to its Sink as a Transport does, but the
// packets are the kernel's. Only a host process with a network namespace of its own can run one: an engine without a
// kernel has no use for it.
//
// All calls come from one thread, which stays in the host's namespace: Open first, then Connect once every host has
// opened, then Wait and Serve in turn, with Send in between. Now may be negative, since connections are made before
// nominal time 0.
type Driver interface {
	// Send takes a message from the application.
	Send(now Time, m Message)
	// Open prepares the namespace, and accepts connections from then on. Wait also waits for the descriptor control.
	// The error names what the kernel lacks.
	Open(control int) error
	// Connect opens the connections to peers that are to exist before the first message.
	Connect(peers []HostID)
	// Wait blocks until a socket or the control descriptor is ready, or CLOCK_MONOTONIC has reached deadline in ns,
	// and never returns before that. It reports whether the control descriptor is ready, and the monotonic time.
	Wait(deadline int64) (control bool, monotonic int64, err error)
	// Serve handles the sockets that are ready.
	Serve(now Time)
	// Abort resets all connections at once, without a call to the Sink.
	Abort()
	// Finish returns the kernel's totals for the namespace, and passes its other counters to the Sink.
	Finish() (DriverCounts, error)
	// Close releases all resources.
	Close()
}

// DriverEnv is what a Driver is made with.
type DriverEnv struct {
	Env
	// Payload returns n bytes, up to MaxPayload, of a message that this host sends, from offset on. They are shared
	// and must not be changed.
	Payload func(m Message, offset Bytes, n int) []byte
	// Note adds a remark to the results.
	Note func(text string)
}

// MaxPayload is the most payload, in bytes, that one call asks for or hands to Sink.Data.
const MaxPayload = 16 << 10

// DriverCounts are a host's totals of kernel TCP.
type DriverCounts struct {
	Sent, Received int64 // segments, with control segments and retransmissions
	Corrupt        int64 // discarded because of their checksum
}

package transport

// A Driver runs a protocol of the host's kernel through its sockets. It takes
// messages and reports to its Sink as a Transport does, but the packets are the
// kernel's. Only a host process with a network namespace of its own can run one:
// no engine without a kernel has a use for it.
//
// It is for one thread, which stays in the host's namespace. Open comes first,
// then Connect once every host has opened, then Wait and Serve in turns; Send in
// between. Now may be negative: before nominal time 0 connections are made.
type Driver interface {
	// Send takes a message from the application.
	Send(now Time, m Message)
	// Open prepares the namespace and accepts connections from then on. The
	// descriptor control is one more that Wait waits for. The error says what
	// the kernel lacks.
	Open(control int) error
	// Connect opens connections to peers, as many as are to be there before
	// the first message.
	Connect(peers []HostID)
	// Wait blocks until a socket or the control descriptor is ready, or
	// CLOCK_MONOTONIC has reached deadline in ns, never before that. It tells
	// whether the control descriptor is, and the monotonic time.
	Wait(deadline int64) (control bool, monotonic int64, err error)
	// Serve does what the sockets are ready for.
	Serve(now Time)
	// Abort ends all connections at once, and tells nobody.
	Abort()
	// Finish returns the kernel's totals in the namespace, and counts what it
	// has counted besides.
	Finish() (KernelCounts, error)
	// Close gives everything back.
	Close()
}

// KernelEnv is what a Driver is handed when it is made.
type KernelEnv struct {
	Env
	// Payload returns n bytes, up to MaxPayload, of a message of this host's,
	// from offset on. They are shared and must not be changed.
	Payload func(m Message, offset Bytes, n int) []byte
	// Note puts something into the results that people should know.
	Note func(text string)
}

// MaxPayload is how many payload bytes are asked for, or handed to Sink.Data, at
// most at once.
const MaxPayload = 16 << 10

// KernelCounts are the totals of a protocol in a host's kernel.
type KernelCounts struct {
	Sent, Received int64 // segments, control and repeated ones among them
	Corrupt        int64 // refused by their checksum
}

// Package message is how programs use the transport of a run: in a host of a fabric of
// sirdbed's they send messages to programs in other hosts, and receive them, over SIRD
// or whatever the scenario selects, but for kernel TCP, which has sockets of its own.
//
//	conn, err := message.Dial(ctx, "")
//	err = conn.Send(ctx, "h1-2", 7, []byte("hello"))
//
//	listener, err := message.Listen(ctx, "", 7)
//	m, err := listener.Receive(ctx)
//
// A program gets into a host by `sirdbed exec h1-1 PROGRAM` once `sirdbed up` has brought
// a fabric up, or as one of a scenario's apps. This package needs nothing but the standard
// library, so that programs of other modules take it along (scenarios/README, Programs
// over the transport).
//
// # Messages
//
// A message is 0 to MaxSize bytes, to a host, by its name in the scenario, and to a
// service there, a number that one program listens to. It arrives whole, once, and
// unharmed, or not at all, and the sender gets to know which: Send returns when the
// program there has taken the message from Receive. Messages may overtake each other. Call
// sends a request and returns the reply.
//
// # Limits and back-pressure
//
// A host lets each connection have 32 MiB and 1024 messages under way, and 16 MiB to each
// other host that programs there have not taken. Beyond them it reads no more from the
// connection: Send and SendAsync wait, as long as their context lets them. A host whose
// programs leave 128 MiB untaken refuses what arrives (ErrFull).
//
// # Time
//
// Nothing in this package asks for the time or waits by it, so that it can be used where
// a run's clock stands still while programs compute (engine virtual). A program has its
// deadlines in contexts, by the kernel's clock, which the dilation does not stretch.
//
// # Concurrency
//
// All functions and methods are safe for concurrent use. A Conn is one connection with
// limits of its own, a Listener another.
package message

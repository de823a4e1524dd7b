package flow

import "sirdbed/sirdnode/transport"

type (
	// Time is nominal nanoseconds.
	Time = transport.Time
	// Bytes counts payload.
	Bytes = transport.Bytes
)

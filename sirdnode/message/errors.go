package message

import (
	"errors"
	"fmt"

	"sirdbed/sirdnode/message/frame"
)

// What can become of a message. Errors match one of these (errors.Is).
var (
	ErrTooLarge    = errors.New("the message is larger than Conn.MaxSize")
	ErrUnknownHost = errors.New("no other host of the fabric is called so")
	ErrFailed      = errors.New("the transport gave the message up")
	ErrNoListener  = errors.New("no program listens there, or it ended before it took or answered the message")
	ErrInUse       = errors.New("another program of this host listens to the service")
	ErrFull        = errors.New("the receiving host has no room left: its programs do not take what arrives")
	ErrDamaged     = errors.New("what arrived is not what was sent")
	ErrEnded       = errors.New("the run is over")
	ErrClosed      = errors.New("the connection is closed")
	ErrMalformed   = errors.New("the connection broke the protocol of the socket")
	// ErrNoTransport is that of Dial and Listen where no host's process answers.
	ErrNoTransport = errors.New("no transport for programs here")
)

var errorOf = map[frame.Code]error{
	frame.TooLarge: ErrTooLarge, frame.UnknownHost: ErrUnknownHost, frame.Failed: ErrFailed,
	frame.NoListener: ErrNoListener, frame.InUse: ErrInUse, frame.Full: ErrFull, frame.Damaged: ErrDamaged,
	frame.Ended: ErrEnded, frame.Malformed: ErrMalformed,
}

// An Error is what became of a message, and of which. Its Unwrap is one of this package's
// errors, or that of a context.
type Error struct {
	Op      string // "send", "call", "reply" or "listen"
	Host    string // the other end, "" for none
	Service uint16
	Err     error
	Reason  string // of the transport or the host, "" if it gave none
}

// Error implements error.
func (e *Error) Error() string {
	to := fmt.Sprintf("service %d", e.Service)
	if e.Host != "" {
		to += " of " + e.Host
	}
	if e.Reason != "" {
		return fmt.Sprintf("%s, %s: %v: %s", e.Op, to, e.Err, e.Reason)
	}
	return fmt.Sprintf("%s, %s: %v", e.Op, to, e.Err)
}

// Unwrap returns the kind of error.
func (e *Error) Unwrap() error { return e.Err }

// codeError is the error of a code, nil for OK.
func codeError(code frame.Code) error {
	if code == frame.OK {
		return nil
	}
	if err, ok := errorOf[code]; ok {
		return err
	}
	return fmt.Errorf("%w: code %d", ErrMalformed, code)
}

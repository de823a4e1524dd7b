// Package frame is what a program and the process of its host write to each other on
// their Unix socket: a stream of frames, each a header of HeaderLen bytes, in the order
// of the network, and data.
//
//	byte 0       Kind
//	byte 1       Code
//	bytes 2-3    Service
//	bytes 4-5    Host: the other end of a message, by its number in the fabric
//	bytes 6-7    0
//	bytes 8-11   ID
//	bytes 12-15  Length of the data
//
// Who connects is sent Welcome first. Then a program may send Send, Request, Reply,
// Listen and Taken, and its host answers each but Taken by its ID.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// HeaderLen is the length of a frame's header, in bytes.
const HeaderLen = 16

// Version is of this protocol. Welcome carries it as its Service.
const Version = 1

// Address is where the process of a host listens, unless its controller says otherwise:
// a name of the host's network namespace, without a file.
const Address = "@sirdbed"

// AddressVar is the environment variable that has another address.
const AddressVar = "SIRDBED_SOCKET"

// Kind is what a frame is.
type Kind uint8

// The kinds of frames.
const (
	// Of programs. Data is a message of theirs, for Send, Request and Reply.
	Send    Kind = 1 // to Host and Service; answered by Result when it was taken there
	Request Kind = 2 // the same, answered by Answer with the reply, or by Result
	Reply   Kind = 3 // to the request that came with ID; answered by Replied
	Listen  Kind = 4 // from now on messages for Service are this connection's; answered by Result
	Taken   Kind = 5 // the message that came with ID has been taken by the program

	// Of hosts.
	Welcome  Kind = 16 // Host is the host's own, ID the longest message; data: names of all hosts, a line each
	Result   Kind = 17 // Code is what became of ID; data: a reason, if there is more to say
	Answer   Kind = 18 // data is the reply to the request ID
	Replied  Kind = 19 // Code is what became of the reply to ID
	Message  Kind = 20 // data is a message from Host to Service
	Asked    Kind = 21 // data is a request from Host to Service, to be answered by Reply
	Farewell Kind = 22 // the connection ends: Code says why, data a reason
)

// Code is what became of a message.
type Code uint8

// The codes.
const (
	OK          Code = iota
	TooLarge         // longer than a message may be
	UnknownHost      // no such host, or the sender itself
	Failed           // the transport gave it up
	NoListener       // no program listens there, or it ended before it took the message
	InUse            // another program listens to the service already
	Full             // the receiving host has no room: its programs do not take what arrives
	Damaged          // what arrived is not what was sent
	Ended            // the run is over
	Malformed        // the program has sent what is no frame, or not in its place
)

// ErrMalformed is matched by errors of headers that no frame has.
var ErrMalformed = errors.New("malformed frame")

// A Header begins a frame.
type Header struct {
	Kind    Kind
	Code    Code
	Service uint16
	Host    uint16
	ID      uint32
	Length  uint32 // of the data that follows
}

// Append appends the header as it is sent.
func (h *Header) Append(b []byte) []byte {
	b = append(b, byte(h.Kind), byte(h.Code))
	b = binary.BigEndian.AppendUint16(b, h.Service)
	b = binary.BigEndian.AppendUint16(b, h.Host)
	b = append(b, 0, 0)
	b = binary.BigEndian.AppendUint32(b, h.ID)
	return binary.BigEndian.AppendUint32(b, h.Length)
}

// FromProgram reads the header of a frame that a program has sent, from at least
// HeaderLen bytes. Its data may be longer than a message may be.
func FromProgram(b []byte) (Header, error) { return parse(b, Send, Taken) }

// FromHost reads the header of a frame that a host has sent.
func FromHost(b []byte) (Header, error) { return parse(b, Welcome, Farewell) }

func parse(b []byte, first, last Kind) (h Header, err error) {
	h = Header{
		Kind: Kind(b[0]), Code: Code(b[1]),
		Service: binary.BigEndian.Uint16(b[2:]), Host: binary.BigEndian.Uint16(b[4:]),
		ID: binary.BigEndian.Uint32(b[8:]), Length: binary.BigEndian.Uint32(b[12:]),
	}
	switch {
	case h.Kind < first || h.Kind > last:
		return h, fmt.Errorf("%w: kind %d", ErrMalformed, h.Kind)
	case b[6] != 0 || b[7] != 0:
		return h, fmt.Errorf("%w: bytes 6 and 7 are %d and %d, not 0", ErrMalformed, b[6], b[7])
	case (h.Kind == Listen || h.Kind == Taken) && h.Length != 0:
		return h, fmt.Errorf("%w: kind %d with data", ErrMalformed, h.Kind)
	}
	return h, nil
}

//go:build linux

// Package session is what two endpoints agree on before they exchange a transport's
// packets, and by which each knows that the other is still there: lines of JSON over a
// TCP connection, beside the transport.
//
//	connecting end          serving end
//	  Hello          ----->
//	                 <-----    Welcome    or why not
//	  (measures credit loops, which the serving end answers)
//	  Measured       ----->
//	                 <-----    Begin      or why not
//	  Beat, each second, both ways; the last one says Bye
//
// The serving end states the parameters, since all that send to it share its links.
package session

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Port is the TCP port of sessions.
const Port = 47098

// Format is what both ends must speak, besides being the same build.
const Format = "sirdbed node 1"

// Hello is who connects, and what it has been told to use.
type Hello struct {
	Format   string          `json:"format"`
	Build    string          `json:"build"`
	Protocol string          `json:"protocol"`
	Params   json.RawMessage `json:"params,omitempty"` // given, nil: none
	Addr     netip.Addr      `json:"addr"`             // that its frames come from
	MTU      units.Bytes     `json:"mtu"`              // of its interface
}

// Welcome is the serving end's answer. With an Error it is the last.
type Welcome struct {
	Error string      `json:"error,omitempty"`
	MTU   units.Bytes `json:"mtu"` // of the transport's packets
}

// Measured is how long credit loops took, measured from the connecting end.
type Measured struct {
	Loop topo.Loop `json:"loop"`
}

// Begin is what both ends go by. With an Error there is nothing else.
type Begin struct {
	Error  string              `json:"error,omitempty"`
	Rate   units.BitsPerSecond `json:"rate"`  // of the serving end's link
	Delay  units.Time          `json:"delay"` // one-way, of each link of two
	Loop   topo.Loop           `json:"loop"`
	Params json.RawMessage     `json:"params"`
}

// Counts are what the serving end has had from a peer.
type Counts struct {
	Messages   int64 `json:"messages"`   // delivered
	Payload    int64 `json:"payload"`    // bytes
	Mismatches int64 `json:"mismatches"` // packets whose payload was not what was sent
}

// Beat says that the sender of it is there.
type Beat struct {
	Bye    bool   `json:"bye,omitempty"`   // and goes
	Error  string `json:"error,omitempty"` // why; then there are no counts
	Counts Counts `json:"counts"`
}

// Bounds of waiting.
const (
	answerTime = 5 * time.Second  // for a line that follows at once
	loopsTime  = 20 * time.Second // for Measured
	beatEvery  = time.Second
	// SilentTime is after how long without a beat the other end is gone.
	SilentTime = 5 * time.Second
)

// longestLine bounds what a stranger can have this process keep.
const longestLine = 64 << 10

// A line is a TCP connection of lines of JSON.
type line struct {
	conn net.Conn
	in   *bufio.Reader
}

func newLine(c net.Conn) *line { return &line{conn: c, in: bufio.NewReaderSize(c, longestLine)} }

func (l *line) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := l.conn.SetWriteDeadline(time.Now().Add(answerTime)); err != nil {
		return plain(err)
	}
	_, err = l.conn.Write(append(text, '\n'))
	return plain(err)
}

// errStrange is the error of another end that is no sirdbed.
var errStrange = errors.New("what answers there is no sirdbed node")

func (l *line) receive(v any, within time.Duration) error {
	if err := l.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return plain(err)
	}
	text, err := l.in.ReadSlice('\n')
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("silent for %v", within)
	case errors.Is(err, bufio.ErrBufferFull):
		return errStrange
	case err != nil:
		return plain(err)
	}
	if json.Unmarshal(text, v) != nil {
		return errStrange
	}
	return nil
}

// plain is an error of a connection in words.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return ErrGone
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

// ErrGone matches the error of an end that has closed its connection without Bye.
var ErrGone = errors.New("its process has ended")

//go:build linux

// Package join is how the peer of a device host takes part in a run: over a TCP connection
// beside the fabric, which neither shapes nor measures it. Both ends have a token, prove it
// to one another without sending it, and are the same build.
//
//	peer (Enter)              run (Gate)
//	             <-----    greeting    a nonce
//	hello        ----->                what it is, and the proof
//	             <-----    welcome     the proof in return, or why not
//
// From then on frames go both ways, until the run says goodbye. The run starts host
// processes at the peer, one after the other, and speaks to each by its standard input and
// output, as it does to those of its own machine. Their logs come as they grow. The
// difference of both machines' clocks is measured by exchanges on the same connection.
package join

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// format is what both ends must speak, besides being the same build.
const format = "sirdbed join 1"

// Bounds of waiting.
const (
	answerTime = 5 * time.Second // for what follows at once
	beatEvery  = time.Second
	// silentTime is after how long without a frame the other end is gone.
	silentTime = 5 * time.Second
)

// A kind is what a frame is.
type kind byte

const (
	words   kind = iota + 1 // JSON, before the peer is welcome
	beat                    // the other end is there
	probe                   // of clocks: 8 bytes from the run, 24 in return
	start                   // run: start a host process
	stdin                   // run: bytes for its standard input; none: the end of that
	kill                    // run: kill it
	stdout                  // peer: bytes of that
	stderr                  // peer: the same
	records                 // peer: bytes of its log
	ended                   // peer: it has ended; how, unless with exit code 0
	bye                     // the sender goes; why, if not because all is done
)

// longest is how many bytes a frame has at most, which bounds what a stranger can have this
// process keep.
const longest = 64 << 10

// A line is a connection of frames: a kind, a length of four bytes, and as many bytes.
type line struct {
	conn net.Conn
	in   *bufio.Reader
	buf  [longest]byte

	writing sync.Mutex
	head    [5]byte
}

func newLine(c net.Conn) *line { return &line{conn: c, in: bufio.NewReaderSize(c, longest)} }

// send writes frames of one kind, as many as the bytes take, and one if there are none.
func (l *line) send(k kind, b []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	for {
		n := min(len(b), longest)
		l.head[0] = byte(k)
		binary.BigEndian.PutUint32(l.head[1:], uint32(n))
		if err := l.conn.SetWriteDeadline(time.Now().Add(silentTime)); err != nil {
			return plain(err)
		}
		frame := net.Buffers{l.head[:], b[:n]}
		if _, err := frame.WriteTo(l.conn); err != nil {
			return plain(err)
		}
		if b = b[n:]; len(b) == 0 {
			return nil
		}
	}
}

// sendWords sends JSON.
func (l *line) sendWords(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return l.send(words, text)
}

// errStrange is the error of another end that is no sirdbed.
var errStrange = errors.New("what is there speaks another language than sirdbed")

// receive returns the next frame. Its bytes are valid until the next call.
func (l *line) receive(within time.Duration) (kind, []byte, error) {
	if err := l.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return 0, nil, plain(err)
	}
	var head [5]byte
	_, err := io.ReadFull(l.in, head[:])
	n := binary.BigEndian.Uint32(head[1:])
	if err == nil && n > longest {
		return 0, nil, errStrange
	}
	if err == nil {
		_, err = io.ReadFull(l.in, l.buf[:n])
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, nil, fmt.Errorf("silent for %v", within)
	}
	return kind(head[0]), l.buf[:n], plain(err)
}

// receiveWords takes JSON.
func (l *line) receiveWords(v any) error {
	k, b, err := l.receive(answerTime)
	if err != nil {
		return err
	}
	if k != words || json.Unmarshal(b, v) != nil {
		return errStrange
	}
	return nil
}

// beats sends beats until stopped, or until that fails, which who receives finds out.
func (l *line) beats(stopped <-chan struct{}) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-stopped:
			return
		case <-tick.C:
			if l.send(beat, nil) != nil {
				return
			}
		}
	}
}

// ErrGone matches the error of another end that has closed its connection without a word.
var ErrGone = errors.New("its process has ended")

// plain is an error of a connection in words.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return ErrGone
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err
}

package node

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// A controlPipe is the controller's end of the conversation, read without the
// Go runtime's poller, which the host's loop leaves no thread for.
type controlPipe struct {
	fd   int
	rest []byte
}

// line blocks until the controller has written a line, at most 16 MiB.
func (c *controlPipe) line() ([]byte, error) {
	buf := make([]byte, 64<<10)
	for searched := 0; len(c.rest) < 16<<20; {
		for i := searched; i < len(c.rest); i++ {
			if c.rest[i] == '\n' {
				line := c.rest[:i]
				c.rest = c.rest[i+1:]
				return line, nil
			}
		}
		searched = len(c.rest)
		n, err := unix.Read(c.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		c.rest = append(c.rest, buf[:n]...)
	}
	return nil, fmt.Errorf("a line of more than %d bytes", len(c.rest))
}

// command takes a command from the controller, which has sent one or is gone. It
// reports whether to stop.
func (n *node) command(mono int64) (stop bool, err error) {
	line, err := n.control.line()
	switch {
	case err == io.ErrUnexpectedEOF:
		return true, nil
	case err != nil:
		return true, err
	case string(line) == CommandDrain:
		n.drain(mono)
		// The command to stop may have come with it.
		return bytes.IndexByte(n.control.rest, '\n') >= 0, nil
	case string(line) == CommandStop:
		return true, nil
	}
	return true, fmt.Errorf("the controller sent %q in the middle of the run", line)
}

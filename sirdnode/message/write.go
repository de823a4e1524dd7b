package message

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"time"

	"sirdbed/sirdnode/message/frame"
)

// small is the most data that is copied behind its header, to be written at once.
const small = 32 << 10

// write writes a frame. A context that ends while the host does not read ends it too: of a
// frame that is written in part the rest is copied, and follows.
func (l *link) write(ctx context.Context, h frame.Header, data []byte) error {
	select {
	case l.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ended:
		return l.reason()
	}
	h.Length = uint32(len(data))
	head := h.Append(make([]byte, 0, frame.HeaderLen+min(len(data), small)))
	if len(data) <= small {
		head, data = append(head, data...), nil
	}
	total := len(head) + len(data)
	n, err := l.writeUntil(ctx, head, data)
	switch {
	case err == nil:
		<-l.writing
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		if n == 0 {
			<-l.writing
			return ctx.Err()
		}
		rest := slices.Concat(head[min(n, len(head)):], data[max(0, n-len(head)):total-len(head)])
		go func() {
			if _, err := l.conn.Write(rest); err != nil {
				l.end(ErrClosed)
			}
			<-l.writing
		}()
		return ctx.Err()
	}
	<-l.writing
	if errors.Is(err, net.ErrClosed) {
		err = ErrClosed
	}
	// The host may have said why it closed the connection.
	<-l.ended
	if why := l.reason(); why != nil {
		return why
	}
	return err
}

// writeUntil writes both parts, and as much of them as there is room for when ctx ends.
func (l *link) writeUntil(ctx context.Context, head, data []byte) (n int, err error) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = l.conn.SetWriteDeadline(time.Unix(1, 0)) // a closed one fails by itself
	})
	n, err = l.conn.Write(head)
	if err == nil && len(data) > 0 {
		var k int
		k, err = l.conn.Write(data)
		n += k
	}
	if !stop() {
		<-interrupted
		_ = l.conn.SetWriteDeadline(time.Time{})
	}
	return n, err
}

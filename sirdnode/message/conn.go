package message

import (
	"context"
	"slices"

	"sirdbed/sirdnode/message/frame"
)

// A Conn sends messages and requests.
type Conn struct{ link *link }

// Dial connects with the process of the host that this program is in. address is "" for
// the one in the environment variable SIRDBED_SOCKET, or "@sirdbed", which is a name in
// the host's network namespace. It returns when the host takes part in the run, from
// nominal time 0 on; an error matches ErrNoTransport.
func Dial(ctx context.Context, address string) (*Conn, error) {
	l, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	go l.follow(nil)
	return &Conn{l}, nil
}

// Host is the name of the host that this program is in, such as h1-2.
func (c *Conn) Host() string { return c.link.self }

// Hosts lists the names of all hosts of the fabric, the own among them.
func (c *Conn) Hosts() []string { return slices.Clone(c.link.names) }

// MaxSize is the most bytes that a message may have.
func (c *Conn) MaxSize() int { return c.link.longest }

// Close ends the connection. What waits for an answer fails with ErrClosed; messages on
// their way may still arrive. Closing again does nothing.
func (c *Conn) Close() error {
	c.link.end(ErrClosed)
	return nil
}

// Send sends a message to a service of a host, and returns when the program that listens
// there has taken it: nil, or an *Error with what became of it. If ctx ends before that the
// message may arrive all the same. data is the caller's again when Send returns.
func (c *Conn) Send(ctx context.Context, host string, service uint16, data []byte) error {
	s, err := c.SendAsync(ctx, host, service, data)
	if err != nil {
		return err
	}
	return s.Wait(ctx)
}

// A Sending is a message on its way.
type Sending struct {
	link   *link
	id     uint32
	result chan result
	failed Error         // what names the message in errors
	done   chan struct{} // closed when err is there
	err    error
}

// SendAsync sends a message as Send does, and returns as soon as the host has it. It waits
// while limits are reached, as long as ctx lets it. data is the caller's again when it
// returns.
func (c *Conn) SendAsync(ctx context.Context, host string, service uint16, data []byte) (*Sending, error) {
	s, err := c.begin(ctx, Error{Op: "send", Host: host, Service: service}, frame.Send, data)
	if err != nil {
		return nil, err
	}
	go func() {
		if r := <-s.result; r.err != nil {
			s.err = s.error(r.err, r.reason)
		}
		close(s.done)
	}()
	return s, nil
}

// Done is closed when the message has arrived, or failed.
func (s *Sending) Done() <-chan struct{} { return s.done }

// Wait returns what became of the message, as Send does, or why ctx ended.
func (s *Sending) Wait(ctx context.Context) error {
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return s.error(ctx.Err(), "")
	}
}

// Call sends a request to a service of a host and returns the reply, or an *Error. If ctx
// ends before that, the request may have arrived all the same.
func (c *Conn) Call(ctx context.Context, host string, service uint16, request []byte) (reply []byte, err error) {
	s, err := c.begin(ctx, Error{Op: "call", Host: host, Service: service}, frame.Request, request)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-s.result:
		if r.err != nil {
			return nil, s.error(r.err, r.reason)
		}
		return r.data, nil
	case <-ctx.Done():
		s.link.forget(s.id)
		return nil, s.error(ctx.Err(), "")
	}
}

// begin writes a message.
func (c *Conn) begin(ctx context.Context, about Error, kind frame.Kind, data []byte) (*Sending, error) {
	l := c.link
	s := &Sending{link: l, result: make(chan result, 1), failed: about, done: make(chan struct{})}
	number, ok := l.numbers[about.Host]
	switch {
	case !ok || about.Host == l.self:
		return nil, s.error(ErrUnknownHost, "")
	case len(data) > l.longest:
		return nil, s.error(ErrTooLarge, "")
	}
	var err error
	if s.id, err = l.await(s.result); err != nil {
		return nil, s.error(err, "")
	}
	if err := l.write(ctx, frame.Header{Kind: kind, Service: about.Service, Host: number, ID: s.id}, data); err != nil {
		l.forget(s.id)
		return nil, s.error(err, "")
	}
	return s, nil
}

func (s *Sending) error(err error, reason string) error {
	e := s.failed
	e.Err, e.Reason = err, reason
	return &e
}

package message

import (
	"context"
	"sync"

	"sirdbed/sirdnode/message/frame"
)

// A Listener receives the messages for a service of its host.
type Listener struct {
	link    *link
	service uint16

	mu      sync.Mutex
	queue   []*Message // as much as the host lets a program have untaken
	arrived chan struct{}
}

// A Message is one that was received. Its Data is the program's.
type Message struct {
	From    string // the host that sent it
	Data    []byte
	Request bool // its sender waits for Reply

	listener *Listener
	id       uint32
}

// Listen receives what is sent to a service of the host that this program is in, of which
// there is one Listener at a time (ErrInUse). address is as for Dial.
func Listen(ctx context.Context, address string, service uint16) (*Listener, error) {
	link, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	l := &Listener{link: link, service: service, arrived: make(chan struct{}, 1)}
	answer := make(chan result, 1)
	id, err := link.await(answer)
	if err != nil {
		return nil, err
	}
	go link.follow(l.take)
	failed := &Error{Op: "listen", Service: service}
	failed.Err = link.write(ctx, frame.Header{Kind: frame.Listen, Service: service, ID: id}, nil)
	if failed.Err == nil {
		select {
		case r := <-answer:
			failed.Err, failed.Reason = r.err, r.reason
		case <-ctx.Done():
			failed.Err = ctx.Err()
		}
	}
	if failed.Err != nil {
		link.end(ErrClosed)
		return nil, failed
	}
	return l, nil
}

// Host is the name of the host that this program is in.
func (l *Listener) Host() string { return l.link.self }

// Close ends the connection. Senders of messages that were not taken, and of requests that
// were not answered, get ErrNoListener. Closing again does nothing.
func (l *Listener) Close() error {
	l.link.end(ErrClosed)
	return nil
}

// take takes a message from the host.
func (l *Listener) take(h frame.Header, data []byte) {
	if int(h.Host) >= len(l.link.names) {
		l.link.end(ErrMalformed)
		return
	}
	l.mu.Lock()
	l.queue = append(l.queue, &Message{
		From: l.link.names[h.Host], Data: data, Request: h.Kind == frame.Asked, listener: l, id: h.ID,
	})
	l.mu.Unlock()
	l.wake()
}

func (l *Listener) wake() {
	select {
	case l.arrived <- struct{}{}:
	default: // somebody is to look already
	}
}

// next returns the first message in the queue, nil if there is none.
func (l *Listener) next() *Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil
	}
	m := l.queue[0]
	l.queue[0] = nil
	if l.queue = l.queue[1:]; len(l.queue) > 0 {
		l.wake() // there may be others who receive
	}
	return m
}

// Receive waits for a message. Its sender gets to know that it was taken. It returns an
// error when ctx ends, or the connection (ErrClosed, ErrEnded).
func (l *Listener) Receive(ctx context.Context) (*Message, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		select {
		case <-l.link.ended:
			return nil, l.link.reason() // what is in the queue was refused
		default:
		}
		if m := l.next(); m != nil {
			// A message is taken by whoever is given it, whatever becomes of ctx.
			err := l.link.write(context.WithoutCancel(ctx), frame.Header{Kind: frame.Taken, ID: m.id}, nil)
			if err != nil {
				return nil, err
			}
			return m, nil
		}
		select {
		case <-l.arrived:
		case <-l.link.ended:
		case <-ctx.Done():
		}
	}
}

// Reply answers a request, once. It returns when the transport has delivered the reply, or
// with an *Error. data is the caller's again when it returns.
func (m *Message) Reply(ctx context.Context, data []byte) error {
	l := m.listener.link
	failed := &Error{Op: "reply", Host: m.From, Service: m.listener.service}
	if !m.Request {
		failed.Err, failed.Reason = ErrMalformed, "the message is no request, or was answered before"
		return failed
	}
	if len(data) > l.longest {
		failed.Err = ErrTooLarge
		return failed
	}
	m.Request = false
	answer := make(chan result, 1)
	if failed.Err = l.awaitAs(m.id, answer); failed.Err != nil {
		return failed
	}
	if failed.Err = l.write(ctx, frame.Header{Kind: frame.Reply, ID: m.id}, data); failed.Err != nil {
		l.forget(m.id)
		return failed
	}
	select {
	case r := <-answer:
		if failed.Err, failed.Reason = r.err, r.reason; r.err == nil {
			return nil
		}
	case <-ctx.Done():
		l.forget(m.id)
		failed.Err = ctx.Err()
	}
	return failed
}

// A Handler answers a request: Serve sends what it returns. Of a message that is no request
// that is ignored.
type Handler func(ctx context.Context, m *Message) (reply []byte)

// Concurrent is how many calls of a Handler Serve makes at once.
const Concurrent = 64

// Serve receives messages and has handler answer them, each in a goroutine of its own, until
// ctx ends or the connection does, and returns why. A reply that does not arrive is its
// caller's to notice. It returns when all calls of handler have.
func (l *Listener) Serve(ctx context.Context, handler Handler) error {
	room := make(chan struct{}, Concurrent)
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		room <- struct{}{}
		m, err := l.Receive(ctx)
		if err != nil {
			return err
		}
		calls.Go(func() {
			defer func() { <-room }()
			reply := handler(ctx, m)
			if m.Request {
				_ = m.Reply(ctx, reply) // whoever asked sees that none comes
			}
		})
	}
}

package flow

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// A Pool is the connections from one host to one peer (README, Connections). A
// connection carries one message at a time. When all are busy, messages wait in
// order of arrival, and the first connection to be released takes the next one.
// Idle ones are a stack: the one released last is used next, and one that has
// never been used only when no other is idle.
//
// The Pool also keeps account of which messages are settled (acknowledged or
// given up): the peer need not remember those (see AboveFloor and Inbox).
type Pool[C any] struct {
	dial    func(n int) *C
	limit   int
	dialed  int
	idle    []*C // the one released last at the end
	waiting queue.FIFO[transport.Message]
	open    account.Outgoing[struct{}]
}

// NewPool makes a pool of limit connections. dial makes the n-th one, from 0,
// when it is first needed: connections cost nothing until used.
func NewPool[C any](limit int, dial func(n int) *C) *Pool[C] {
	return &Pool[C]{dial: dial, limit: limit}
}

// Add takes a message; ids must ascend. It returns the connection that is to
// carry it now, nil if it waits for one.
func (p *Pool[C]) Add(m transport.Message) *C {
	p.open.Add(m.ID, struct{}{})
	if last := len(p.idle) - 1; last >= 0 {
		c := p.idle[last]
		p.idle = p.idle[:last]
		return c
	}
	if p.dialed < p.limit {
		p.dialed++
		return p.dial(p.dialed - 1)
	}
	p.waiting.Push(m)
	return nil
}

// Skip counts a message that will never be sent.
func (p *Pool[C]) Skip(id transport.MessageID) {
	p.open.Add(id, struct{}{})
	p.open.Settle(id)
}

// Release ends a connection's message. It returns the message that c is to
// carry next, or false if c is idle now.
func (p *Pool[C]) Release(c *C) (transport.Message, bool) {
	m, ok := p.waiting.Pop()
	if !ok {
		p.idle = append(p.idle, c)
	}
	return m, ok
}

// Waiting returns how many messages wait for a connection.
func (p *Pool[C]) Waiting() int { return p.waiting.Len() }

// Busy returns how many connections carry a message.
func (p *Pool[C]) Busy() int { return p.dialed - len(p.idle) }

// Open returns how many messages are not settled, or follow one that is not.
func (p *Pool[C]) Open() int { return int(p.open.Next() - p.open.Floor()) }

// Settle counts a message as acknowledged or given up.
func (p *Pool[C]) Settle(id transport.MessageID) { p.open.Settle(id) }

// AboveFloor returns how far a message's id is above the lowest one that is not
// settled, or account.FloorUnknown. Data packets carry it, so that the receiver
// knows what it need not remember.
func (p *Pool[C]) AboveFloor(id transport.MessageID) uint16 { return p.open.AboveFloor(id) }

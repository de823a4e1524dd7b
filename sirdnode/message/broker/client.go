package broker

import (
	"fmt"
	"slices"

	"sirdbed/sirdnode/message/frame"
	"sirdbed/sirdnode/transport"
)

// A Client is one connection of a program.
type Client struct {
	b     *Broker
	gone  bool
	bad   bool // has sent what is no frame: only its farewell is left
	waits bool // is among those who wait for limits

	rest    []byte    // read and not looked at yet
	skip    int       // bytes of data that nobody wants
	filling *outgoing // a message of which more is to come
	filled  int

	bytes, messages int // under way
	listens         []uint16

	out   []output // frames to be written, in order
	inbox []output // messages behind them, as far as the program is not ahead
	ahead int      // bytes of messages that are written, or are being, and not taken
}

// An output is a frame to be written.
type output struct {
	head []byte
	body *incoming // whose data follows, nil for none
	at   int       // of head and then body, header of the message included
}

// manyOutputs is how many frames wait for a program at most, beside those of messages,
// before no more is read from it.
const manyOutputs = 4096

// Connect begins a connection; nil if there are as many as may be.
func (b *Broker) Connect() *Client {
	if b.clients >= b.limits.Clients {
		return nil
	}
	b.clients++
	c := &Client{b: b}
	c.say(frame.Header{Kind: frame.Welcome, Service: frame.Version, Host: uint16(b.self), ID: uint32(b.limits.Message)},
		string(b.welcome))
	return c
}

// Wants reports whether more is to be read from the program.
func (c *Client) Wants() bool { return !c.gone && !c.bad && !c.waits && len(c.out) < manyOutputs }

// Feed takes what was read from the program, of any length.
func (c *Client) Feed(data []byte) {
	if c.gone || c.bad {
		return
	}
	if len(c.rest) > 0 || c.waits {
		c.rest = append(c.rest, data...)
		c.process()
		return
	}
	n := c.consume(data)
	c.rest = append(c.rest[:0], data[n:]...)
}

// process goes on with what was read before.
func (c *Client) process() {
	if c.gone || c.waits {
		return
	}
	n := c.consume(c.rest)
	c.rest = c.rest[:copy(c.rest, c.rest[n:])]
}

// consume takes frames, and parts of their data, as far as limits let it.
func (c *Client) consume(data []byte) (n int) {
	for n < len(data) && !c.bad {
		left := data[n:]
		switch {
		case c.skip > 0:
			k := min(c.skip, len(left))
			c.skip -= k
			n += k
		case c.filling != nil:
			k := min(len(left), c.filling.body.size-c.filled)
			c.filling.body.write(c.filled, left[:k])
			c.filled += k
			n += k
			c.finish()
		case len(left) < frame.HeaderLen:
			return n
		default:
			h, err := frame.FromProgram(left)
			if err != nil {
				c.dismiss(err.Error())
				return len(data)
			}
			if !c.begin(&h) {
				return n
			}
			n += frame.HeaderLen
			c.finish()
		}
	}
	return n
}

// finish sends a message whose data is all there.
func (c *Client) finish() {
	if c.filling != nil && c.filled == c.filling.body.size {
		o := c.filling
		c.filling = nil
		c.b.submit(o)
	}
}

// begin takes a frame's header. It reports whether limits let it.
func (c *Client) begin(h *frame.Header) bool {
	switch h.Kind {
	case frame.Send:
		return c.beginMessage(h, kindMessage)
	case frame.Request:
		return c.beginMessage(h, kindRequest)
	case frame.Reply:
		return c.beginReply(h)
	case frame.Listen:
		c.listen(h)
	case frame.Taken:
		if !c.b.take(c, h.ID) {
			c.dismiss(fmt.Sprintf("message %d is none that this connection has to take", h.ID))
		}
	}
	return true
}

func (c *Client) beginMessage(h *frame.Header, k kind) bool {
	peer := transport.HostID(h.Host)
	refuse := func(code frame.Code) bool {
		c.skip = int(h.Length)
		c.say(frame.Header{Kind: frame.Result, Code: code, ID: h.ID}, "")
		return true
	}
	switch {
	case int(h.Host) >= c.b.hosts || peer == c.b.self:
		return refuse(frame.UnknownHost)
	case int64(h.Length) > int64(c.b.limits.Message):
		return refuse(frame.TooLarge)
	}
	return c.fill(&outgoing{kind: k, service: h.Service, peer: peer, client: c, asked: h.ID}, h.Length)
}

func (c *Client) beginReply(h *frame.Header) bool {
	in := c.b.tokens[h.ID]
	code := frame.OK
	switch {
	case in == nil || in.client != c || !in.request || !in.taken:
		code = frame.Malformed
	case int64(h.Length) > int64(c.b.limits.Message):
		code = frame.TooLarge
	}
	if code != frame.OK {
		c.skip = int(h.Length)
		c.say(frame.Header{Kind: frame.Replied, Code: code, ID: h.ID}, "")
		return true
	}
	o := &outgoing{kind: kindReply, peer: in.peer, id: in.id, tag: tagOf(in.id).Reply(), client: c, asked: h.ID}
	if !c.fill(o, h.Length) {
		return false
	}
	delete(c.b.tokens, h.ID)
	return true
}

// fill makes room for a message, or has the connection wait until there is some.
func (c *Client) fill(o *outgoing, length uint32) bool {
	size := headerLen + int(length)
	if !c.b.room(c, o.kind, o.peer, size) {
		c.waits = true
		c.b.waiting = append(c.b.waiting, c)
		return false
	}
	o.body = c.b.pool.take(size)
	c.b.charge(o)
	c.filling, c.filled = o, headerLen
	return true
}

func (c *Client) listen(h *frame.Header) {
	code := frame.OK
	if c.b.services[h.Service] != nil {
		code = frame.InUse
	} else {
		c.b.services[h.Service] = c
		c.listens = append(c.listens, h.Service)
	}
	c.say(frame.Header{Kind: frame.Result, Code: code, ID: h.ID}, "")
}

// dismiss ends a connection that has broken the protocol.
func (c *Client) dismiss(why string) { c.Farewell(frame.Malformed, why) }

// Farewell has the program know why its connection ends. Output has that last.
func (c *Client) Farewell(code frame.Code, why string) {
	if !c.gone && !c.bad {
		c.say(frame.Header{Kind: frame.Farewell, Code: code}, why)
		c.bad = true
	}
}

// Ending reports that the connection is to be closed, once Output has nothing more.
func (c *Client) Ending() bool { return c.bad || c.gone }

// Close ends the connection: what its program has not taken is refused, what it has sent
// goes on, and nobody gets to know what became of it.
func (c *Client) Close() {
	if c == nil || c.gone {
		return
	}
	c.gone = true
	b := c.b
	b.clients--
	for _, service := range c.listens {
		delete(b.services, service)
	}
	if o := c.filling; o != nil {
		c.filling = nil
		b.outgoing -= o.size
		b.uncharge(o)
		b.pool.give(o.body)
		if o.kind == kindReply {
			b.refuse(o.peer, o.id, frame.NoListener)
		}
	}
	for _, o := range append(c.out, c.inbox...) {
		if o.body != nil {
			b.drop(o.body)
		}
	}
	c.out, c.inbox, c.rest = nil, nil, nil
	for _, token := range b.owned(c) {
		in := b.tokens[token]
		delete(b.tokens, token)
		b.drop(in)
		b.refuse(in.peer, in.id, frame.NoListener)
	}
	for _, o := range b.pending {
		if o.client == c {
			o.client = nil
		}
	}
	for _, o := range b.sent {
		if o.client == c {
			o.client = nil
		}
	}
	for _, o := range b.offers {
		if o.client == c {
			o.client = nil
		}
	}
	b.waiting = slices.DeleteFunc(b.waiting, func(w *Client) bool { return w == c })
	b.admit()
}

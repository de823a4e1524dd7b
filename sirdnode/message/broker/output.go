package broker

import "sirdbed/sirdnode/message/frame"

// say has a frame written that has a text or nothing as its data.
func (c *Client) say(h frame.Header, text string) {
	if c.gone || c.bad {
		return
	}
	h.Length = uint32(len(text))
	c.out = append(c.out, output{head: append(h.Append(make([]byte, 0, frame.HeaderLen+len(text))), text...)})
}

// manyAhead is how many bytes of messages a program is sent before it has taken those
// before, unless it is one message: a reader that is slow leaves them with its host.
const manyAhead = 256 << 10

// pass has a message written, or the answer to one.
func (c *Client) pass(h frame.Header, in *incoming) {
	o := output{head: h.Append(make([]byte, 0, frame.HeaderLen)), body: in}
	if in.taken {
		c.out = append(c.out, o)
	} else {
		c.inbox = append(c.inbox, o)
	}
}

// deal has the next message written if the program has taken those before.
func (c *Client) deal() {
	if len(c.inbox) == 0 || c.bad {
		return
	}
	size := c.inbox[0].body.size
	if c.ahead == 0 || c.ahead+size <= manyAhead {
		c.ahead += size
		c.out = append(c.out, c.inbox[0])
		c.inbox = append(c.inbox[:0], c.inbox[1:]...)
	}
}

// Output returns bytes to be written next, nil if there are none. They are the broker's
// until Wrote.
func (c *Client) Output() []byte {
	if len(c.out) == 0 {
		c.deal()
	}
	for len(c.out) > 0 {
		o := &c.out[0]
		if o.at < len(o.head) {
			return o.head[o.at:]
		}
		if o.body != nil {
			if rest := o.body.body.chunk(o.at - len(o.head) + headerLen); rest != nil {
				return rest
			}
		}
		c.written(o)
		c.out = append(c.out[:0], c.out[1:]...)
		if len(c.out) == 0 {
			c.deal()
		}
	}
	return nil
}

// Wrote notes that n of Output's bytes have been written.
func (c *Client) Wrote(n int) { c.out[0].at += n }

// written gives back the bytes of a message that is all in the socket. What waits there,
// and in the program, is limited by the socket: messages count until they are taken.
func (c *Client) written(o *output) {
	if o.body == nil {
		return
	}
	c.b.pool.give(o.body.body)
	o.body.body = nil
	if o.body.taken { // an answer
		c.b.discharge(o.body)
	}
}

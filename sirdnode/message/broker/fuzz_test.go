package broker_test

import (
	"testing"

	"sirdbed/sirdnode/message/brokertest"
	"sirdbed/sirdnode/message/frame"
)

// Whatever programs write, in whatever pieces, nothing is left of it when they are gone.
func FuzzFeed(f *testing.F) {
	frames := func(list ...frame.Header) (b []byte) {
		for _, h := range list {
			b = append(h.Append(b), make([]byte, min(h.Length, 100))...)
		}
		return b
	}
	f.Add(frames(frame.Header{Kind: frame.Listen, Service: 1},
		frame.Header{Kind: frame.Send, Host: 1, Service: 1, Length: 20}), byte(3))
	f.Add(frames(frame.Header{Kind: frame.Request, Host: 1, Service: 1, ID: 4, Length: 0},
		frame.Header{Kind: frame.Taken, ID: 1}, frame.Header{Kind: frame.Reply, ID: 1, Length: 5}), byte(16))
	f.Add(frames(frame.Header{Kind: frame.Send, Host: 1, Length: 1 << 31}), byte(255))
	f.Fuzz(func(t *testing.T, stream []byte, step byte) {
		fabric := brokertest.New(t, 2, small)
		clients := []interface {
			Feed([]byte)
			Output() []byte
			Wrote(int)
			Close()
		}{fabric.Brokers[0].Connect(), fabric.Brokers[1].Connect()}
		clients[1].Feed((&frame.Header{Kind: frame.Listen, Service: 1}).Append(nil))
		for i := 0; len(stream) > 0; i++ {
			n := min(len(stream), 1+int(step))
			clients[i&1&int(step)].Feed(stream[:n])
			stream = stream[n:]
			fabric.Settle()
			for _, c := range clients {
				for out := c.Output(); out != nil; out = c.Output() {
					c.Wrote(len(out))
				}
			}
		}
		for _, c := range clients {
			c.Close()
			fabric.Settle()
		}
		for _, b := range fabric.Brokers {
			b.CheckIdle(t)
		}
	})
}

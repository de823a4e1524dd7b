//go:build linux

package virtual

import (
	"encoding/json"
	"net"
	"time"

	"sirdbed/sirdnode/clock"
)

// said is a note of a guest, or none where its connection has ended.
type said struct {
	guest int
	note  *note
}

// A line is a guest's connection to the coordinator.
type line struct {
	conn net.Conn
	in   *json.Decoder
}

// coordinate is what the coordinator does: through it guests' controllers agree, over a
// connection to each. Whatever was sent is there when hold has passed, by the guests' clock.
func coordinate(lines []line, hold time.Duration) {
	c := newCoordinator(len(lines))
	notes := make(chan said)
	for i, l := range lines {
		go func() {
			for {
				n := &note{}
				if l.in.Decode(n) != nil {
					notes <- said{i, nil}
					return
				}
				notes <- said{i, n}
			}
		}()
	}
	all := func(n note) {
		for _, l := range lines {
			_ = json.NewEncoder(l.conn).Encode(&n) // who has gone needs nothing
		}
	}
	end := func() {
		if !c.ended {
			c.ended = true
			at := clock.Monotonic() + hold.Nanoseconds()
			all(note{Ended: &at})
		}
	}
	due := make(chan struct{}, 1)
	for left := len(lines); left > 0; {
		select {
		case <-due:
			if c.over(clock.Monotonic() - hold.Nanoseconds()) {
				end()
			}
		case s := <-notes:
			switch n := s.note; {
			case n == nil:
				if left--; !c.left {
					c.left = true
					all(note{Left: true})
				}
			case n.Agree != nil:
				if said := c.agree(s.guest, *n.Agree); said != nil {
					all(note{Agreed: said})
				}
			case n.Busy != nil:
				c.report(busyReport{n.At, s.guest, *n.Busy})
				time.AfterFunc(hold+time.Duration(n.At-clock.Monotonic()), func() {
					select {
					case due <- struct{}{}:
					default: // what is due already takes this too
					}
				})
			case n.End:
				end()
			}
		}
	}
}

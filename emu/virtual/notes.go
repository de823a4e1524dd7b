//go:build linux

package virtual

import (
	"encoding/json"
	"net"
	"time"

	"sirdbed/sirdnode/clock"
)

// Controllers of guests with one clock talk over links between their guests, which take
// as much of that clock as every other link between guests: so what they agree on, and when,
// is the same in each run. The first guest's is the coordinator, which takes part like the
// others, by a pipe. Each connection carries notes, a line of JSON each:
//
//	to the coordinator             from it
//	{"guest": 1}                                         first, once: whose connection it is
//	{"agree": v}                   {"agreed": [v0, v1]}  the call returns when all have made it
//	{"busy": n, "at": t}                                 so many hosts are not done from t on
//	{"end": true}                                        the run cannot go on in this guest
//	                               {"ended": t}          once, to all: the run ends at t
//	                               {"left": true}        once, to all: a connection has ended
//
// What is agreed on, in the order of a run (emu/real, real.Group): the origin, of which the
// latest is taken; when the run ends; and while it drains, again and again, how many bytes
// wait in ports, until that is 0 everywhere. Who has been told that another has left fails in
// what it wants to agree on. A guest whose controller fails leaves in good order; one that is
// killed does not, and the others would wait for it at the end of a quantum for ever: the
// engine ends them (runSeveral).
type note struct {
	Guest  int     `json:"guest,omitempty"`
	Agree  *int64  `json:"agree,omitempty"`
	Agreed []int64 `json:"agreed,omitempty"` // by guest
	Busy   *int    `json:"busy,omitempty"`
	At     int64   `json:"at,omitempty"` // ns of the guests' clock
	End    bool    `json:"end,omitempty"`
	Ended  *int64  `json:"ended,omitempty"` // ns of the guests' clock, some ms ahead
	Left   bool    `json:"left,omitempty"`
}

// A connection is a guest's to the coordinator, at the coordinator's end.
type connection struct {
	conn net.Conn
	in   *json.Decoder // what has been read of conn already is in here
}

// received is a note of a guest, or nil where its connection has ended.
type received struct {
	guest int
	note  *note
}

// holdTime is by when a note that anybody has sent has arrived, where frames take crossing from
// guest to guest. It is one crossing, and two more for those that await an acknowledgement,
// since TCP begins with ten segments under way; what controllers do takes next to nothing.
func holdTime(crossing time.Duration) time.Duration {
	return max(2*crossing+time.Millisecond, 4*crossing)
}

// coordinate is what the coordinator does, from the first note of all guests until all
// connections have ended. hold is after how long, by the guests' clock, what anybody has sent
// has arrived.
func coordinate(connections []connection, hold time.Duration) {
	c := newCoordinator(len(connections))
	notes := make(chan received)
	for i, from := range connections {
		go func() {
			for {
				n := &note{}
				if from.in.Decode(n) != nil {
					notes <- received{i, nil}
					return
				}
				notes <- received{i, n}
			}
		}()
	}
	all := func(n note) {
		for _, to := range connections {
			_ = json.NewEncoder(to.conn).Encode(&n) // who has gone needs nothing
		}
	}
	end := func() {
		if !c.ended {
			c.ended = true
			at := clock.Monotonic() + hold.Nanoseconds()
			all(note{Ended: &at})
		}
	}
	due := make(chan struct{}, 1) // reports of hold ago are all there
	for open := len(connections); open > 0; {
		select {
		case <-due:
			if c.over(clock.Monotonic() - hold.Nanoseconds()) {
				end()
			}
		case r := <-notes:
			switch n := r.note; {
			case n == nil:
				if open--; !c.left {
					c.left = true
					all(note{Left: true})
				}
			case n.Agree != nil:
				if agreed := c.agree(r.guest, *n.Agree); agreed != nil {
					all(note{Agreed: agreed})
				}
			case n.Busy != nil:
				c.report(busyReport{n.At, r.guest, *n.Busy})
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

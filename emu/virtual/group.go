//go:build linux

package virtual

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"sirdbed/emu/fabric"
	"sirdbed/sirdnode/clock"
)

// errLeft is the error of a guest whose group has lost another one. Who starts the guests
// knows it by its text: see consequence.
var errLeft = errors.New("another guest of the run has ended")

// A group implements real.Group: a guest's end of what notes.go describes. listen has a
// goroutine of its own, all else is for the run's.
type group struct {
	conn   net.Conn
	agreed chan []int64 // an answer at most, since nobody asks twice; closed when somebody has left
	ended  chan int64   // room for the run's end, and for that of the group after it
}

// meet joins this guest's controller with those of the others, of as many guests. It takes
// until the last of them is there.
func meet(part *fabric.Part, guests int) (*group, error) {
	conn, err := connect(part, guests)
	if err != nil {
		return nil, fmt.Errorf("the group of %d guests: %w", guests, err)
	}
	g := &group{conn: conn, agreed: make(chan []int64, 1), ended: make(chan int64, 2)}
	go g.listen()
	return g, nil
}

// Agree implements real.Group.
func (g *group) Agree(own int64) ([]int64, error) {
	if err := g.send(note{Agree: &own}); err != nil {
		return nil, errLeft
	}
	all, ok := <-g.agreed
	if !ok {
		return nil, errLeft
	}
	return all, nil
}

// Busy implements real.Group.
func (g *group) Busy(hosts int) { _ = g.send(note{Busy: &hosts, At: clock.Monotonic()}) }

// End implements real.Group.
func (g *group) End() { _ = g.send(note{End: true}) }

// Ended implements real.Group.
func (g *group) Ended() <-chan int64 { return g.ended }

// send sends a note. An error means that the coordinator has gone, which reading finds out too.
func (g *group) send(n note) error { return json.NewEncoder(g.conn).Encode(&n) }

// listen takes what the coordinator sends.
func (g *group) listen() {
	for in := json.NewDecoder(g.conn); ; {
		var n note
		err := in.Decode(&n)
		switch {
		case err != nil || n.Left:
			close(g.agreed)
			select { // the run ends, if it goes on
			case g.ended <- clock.Monotonic():
			default:
			}
			return
		case n.Ended != nil:
			g.ended <- *n.Ended
		default:
			g.agreed <- n.Agreed
		}
	}
}

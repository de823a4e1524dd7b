//go:build linux

package virtual

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/clock"
)

// Controllers of guests with one clock talk over links between their guests, which take
// as much of that clock as every other link between guests: so what they agree on, and when,
// is the same in each run. The first guest's is the coordinator.

// A note is what goes over such a connection, as a line of JSON.
type note struct {
	Guest  int     `json:"guest,omitempty"`  // the first note of a connection: whose it is
	Agree  *int64  `json:"agree,omitempty"`  // to the coordinator: what a guest says
	Agreed []int64 `json:"agreed,omitempty"` // from it: what all have said
	Busy   *int    `json:"busy,omitempty"`   // to the coordinator: hosts that are busy, from At on
	At     int64   `json:"at,omitempty"`
	End    bool    `json:"end,omitempty"`   // to the coordinator: the run cannot go on
	Ended  *int64  `json:"ended,omitempty"` // from it: when the run ends
	Left   bool    `json:"left,omitempty"`  // from it: a guest has left
}

// errLeft is the error of a guest whose group has lost another one.
var errLeft = errors.New("another guest of the run has ended")

// A group implements real.Group.
type group struct {
	conn   net.Conn
	agreed chan []int64 // closed when somebody has left
	ended  chan int64
}

// Agree implements real.Group.
func (c *group) Agree(said int64) ([]int64, error) {
	if err := c.send(note{Agree: &said}); err != nil {
		return nil, errLeft
	}
	all, ok := <-c.agreed
	if !ok {
		return nil, errLeft
	}
	return all, nil
}

// Busy implements real.Group.
func (c *group) Busy(hosts int) { _ = c.send(note{Busy: &hosts, At: clock.Monotonic()}) }

// End implements real.Group.
func (c *group) End() { _ = c.send(note{End: true}) }

// Ended implements real.Group.
func (c *group) Ended() <-chan int64 { return c.ended }

// send sends a note. An error means that the coordinator has gone, which reading finds out too.
func (c *group) send(n note) error { return json.NewEncoder(c.conn).Encode(&n) }

// listen takes what the coordinator sends.
func (c *group) listen() {
	for in := json.NewDecoder(c.conn); ; {
		var n note
		err := in.Decode(&n)
		switch {
		case err != nil || n.Left:
			close(c.agreed)
			select { // the run ends, if it goes on
			case c.ended <- clock.Monotonic():
			default:
			}
			return
		case n.Ended != nil:
			c.ended <- *n.Ended
		default:
			c.agreed <- n.Agreed
		}
	}
}

// meet joins this guest's controller with the others'.
func meet(part *fabric.Part, guests int) (*group, error) {
	conn, err := connect(part, guests)
	if err != nil {
		return nil, fmt.Errorf("the group of %d guests: %w", guests, err)
	}
	c := &group{conn: conn, agreed: make(chan []int64, 1), ended: make(chan int64, 2)}
	go c.listen()
	return c, nil
}

// connect makes the links to the other guests, and returns a connection to the coordinator.
func connect(part *fabric.Part, guests int) (net.Conn, error) {
	if part.Self > 0 {
		if err := addControlLink(part.Self, 0, part.Self); err != nil {
			return nil, err
		}
		conn, err := callCoordinator(part.Self)
		if err == nil {
			err = json.NewEncoder(conn).Encode(&note{Guest: part.Self})
		}
		return conn, err
	}
	for g := 1; g < guests; g++ {
		if err := addControlLink(g, g, 0); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp4", fmt.Sprintf(":%d", controlPort))
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	_ = listener.(*net.TCPListener).SetDeadline(time.Now().Add(meetTime))
	lines := make([]line, guests)
	for range guests - 1 {
		conn, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		var hello note
		in := json.NewDecoder(conn)
		if err := in.Decode(&hello); err != nil {
			return nil, err
		}
		lines[hello.Guest] = line{conn, in}
	}
	own, its := net.Pipe()
	lines[0] = line{its, json.NewDecoder(its)}
	go coordinate(lines, 2*part.Crossing+time.Millisecond)
	return own, nil
}

// Of the controllers' own links.
const (
	controlPort  = 7000
	controlIndex = 1 << 20 // of interfaces, and of ports, on top of the guest
	meetTime     = 100 * time.Second
	callEvery    = 10 * time.Millisecond
)

// controlAddress is that of an end of the link between the coordinator and a guest.
func controlAddress(guest int, coordinator bool) [4]byte {
	if coordinator {
		return [4]byte{10, 251, byte(guest), 1}
	}
	return [4]byte{10, 251, byte(guest), 2}
}

// callCoordinator connects to the coordinator, who may not be there yet.
func callCoordinator(guest int) (conn net.Conn, err error) {
	a := controlAddress(guest, true)
	for until := time.Now().Add(meetTime); time.Now().Before(until); time.Sleep(callEvery) {
		to := &net.TCPAddr{IP: net.IP(a[:]), Port: controlPort}
		if conn, err = net.DialTCP("tcp4", nil, to); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// addControlLink makes an end of the link between the coordinator and a guest: that which leads to
// peer, of guest self.
func addControlLink(guest, peer, self int) error {
	conn, err := rtnl.Open()
	if err != nil {
		return err
	}
	defer conn.Close()
	var b rtnl.Batch
	name, index := fmt.Sprintf("control%d", guest), controlIndex+guest
	port := func(coordinator bool) int {
		if coordinator {
			return controlIndex + 2*guest
		}
		return controlIndex + 2*guest + 1
	}
	coordinator := self == 0
	own, others := controlAddress(guest, coordinator), controlAddress(guest, !coordinator)
	mac := func(a [4]byte) []byte { return []byte{2, 0xfe, a[0], a[1], a[2], a[3]} }
	b.Request("add link crossing", name, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, rtnl.Link(index, 0, 0))
	b.String(unix.IFLA_IFNAME, name)
	b.Attr(unix.IFLA_ADDRESS, mac(own))
	fabric.AddCrossing(&b, peer, port(coordinator), port(!coordinator))
	b.LinkUp(index, name)
	b.Request("add address", name, unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL, rtnl.Address(index, 32))
	b.Attr(unix.IFA_LOCAL, own[:])
	b.Attr(unix.IFA_ADDRESS, others[:])
	b.Request("add neighbor", name, unix.RTM_NEWNEIGH, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, rtnl.Neighbor(index))
	b.Attr(unix.NDA_DST, others[:])
	b.Attr(unix.NDA_LLADDR, mac(others))
	return conn.Do(&b)
}

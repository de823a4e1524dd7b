//go:build linux

package virtual

import (
	"encoding/json"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/rtnl"
)

// The links of the controllers' own: one from the coordinator to each other guest, with the
// number of that guest. They lie in the guests' first namespace, beside the fabric, are
// crossings without a rate, and have an address at each end.
const (
	controlPort  = 7000    // of TCP, at which the coordinator listens
	controlIndex = 1 << 20 // on top of which are the links' interfaces, and ports of crossings: no fabric has as many
	// meetTime is how long controllers wait for one another, by the guests' clock, on which a
	// guest that is slow to boot takes no longer than others.
	meetTime  = 100 * time.Second
	callEvery = 10 * time.Millisecond // by the same clock
)

// connect makes this guest's ends of the links, and returns its connection to the coordinator.
// The first guest becomes the coordinator, when all others have connected.
func connect(part *fabric.Part, guests int) (net.Conn, error) {
	if part.Self > 0 {
		if err := addControlLink(part.Self, false); err != nil {
			return nil, err
		}
		conn, err := callCoordinator(part.Self)
		if err == nil {
			err = json.NewEncoder(conn).Encode(&note{Guest: part.Self})
		}
		return conn, err
	}
	for link := 1; link < guests; link++ {
		if err := addControlLink(link, true); err != nil {
			return nil, err
		}
	}
	connections, err := awaitCalls(guests)
	if err != nil {
		return nil, err
	}
	own, its := net.Pipe()
	connections[0] = connection{its, json.NewDecoder(its)}
	go coordinate(connections, holdTime(part.Crossing))
	return own, nil
}

// awaitCalls returns the connections of all guests but the first.
func awaitCalls(guests int) ([]connection, error) {
	listener, err := net.Listen("tcp4", fmt.Sprintf(":%d", controlPort))
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	_ = listener.(*net.TCPListener).SetDeadline(time.Now().Add(meetTime))
	connections := make([]connection, guests)
	for range guests - 1 {
		conn, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		var first note
		in := json.NewDecoder(conn)
		if err := in.Decode(&first); err != nil {
			return nil, err
		}
		connections[first.Guest] = connection{conn, in}
	}
	return connections, nil
}

// callCoordinator connects to the coordinator, who may not be there yet.
func callCoordinator(link int) (conn net.Conn, err error) {
	a := controlAddress(link, true)
	for until := time.Now().Add(meetTime); time.Now().Before(until); time.Sleep(callEvery) {
		to := &net.TCPAddr{IP: net.IP(a[:]), Port: controlPort}
		if conn, err = net.DialTCP("tcp4", nil, to); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// controlAddress is that of an end of a link: the coordinator's, or the other guest's.
func controlAddress(link int, coordinator bool) [4]byte {
	if coordinator {
		return [4]byte{10, 251, byte(link), 1}
	}
	return [4]byte{10, 251, byte(link), 2}
}

// addControlLink makes this guest's end of a link: the coordinator's, or the other guest's.
func addControlLink(link int, coordinator bool) error {
	conn, err := rtnl.Open()
	if err != nil {
		return err
	}
	defer conn.Close()
	peer := 0 // the guest at the other end
	if coordinator {
		peer = link
	}
	port := func(coordinator bool) int {
		if coordinator {
			return controlIndex + 2*link
		}
		return controlIndex + 2*link + 1
	}
	name, index := fmt.Sprintf("control%d", link), controlIndex+link
	own, others := controlAddress(link, coordinator), controlAddress(link, !coordinator)
	mac := func(a [4]byte) []byte { return []byte{2, 0xfe, a[0], a[1], a[2], a[3]} }
	var b rtnl.Batch
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

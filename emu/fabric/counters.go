//go:build linux

package fabric

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
)

// LinkCounters are what the interface of a port has counted. Sent is what left
// the port, received what came the other way. A healthy fabric drops nothing
// here: only its ports' queues do, and they count for themselves (PortStats).
type LinkCounters struct {
	SentPackets, SentBytes         uint64
	ReceivedPackets, ReceivedBytes uint64
	SentDropped, ReceivedDropped   uint64
}

// LinkCounters reads the interfaces of all ports that this kernel has, by topo.PortID. It is slower
// than Sample: one dump for every node.
func (f *Fabric) LinkCounters() ([]LinkCounters, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil, ErrClosed
	}
	counters := make([]LinkCounters, len(f.topology.Ports))
	for id := range f.own() {
		err := f.eachLink(id, func(p topo.PortID, attrs []byte) {
			counters[p].read(rtnl.Find(attrs, unix.IFLA_STATS64))
		})
		if err != nil {
			return nil, f.nodeError(id, err)
		}
	}
	return counters, nil
}

// read takes a struct rtnl_link_stats64, which begins with packets, bytes,
// errors and drops of both directions.
func (c *LinkCounters) read(b []byte) {
	if len(b) < 8*8 {
		return
	}
	at := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	*c = LinkCounters{
		ReceivedPackets: at(0), SentPackets: at(1),
		ReceivedBytes: at(2), SentBytes: at(3),
		ReceivedDropped: at(4) + at(6), SentDropped: at(5) + at(7),
	}
}

// eachLink dumps the links of a node and calls each for its ports.
func (f *Fabric) eachLink(id topo.NodeID, each func(p topo.PortID, attrs []byte)) error {
	return f.namespaces[id].conn.Dump("dump links", unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg),
		func(typ uint16, body []byte) error {
			if typ != unix.RTM_NEWLINK || len(body) < unix.SizeofIfInfomsg {
				return nil
			}
			p := int(int32(binary.NativeEndian.Uint32(body[4:]))) - firstIndex
			if p >= 0 && p < len(f.topology.Ports) {
				each(topo.PortID(p), body[unix.SizeofIfInfomsg:])
			}
			return nil
		})
}

// SoftnetDrops returns how many packets the machine's receive backlogs have
// dropped since it started, over all processors and namespaces: the second
// column of /proc/net/softnet_stat. A difference over a run that is not 0 means
// that net.core.netdev_max_backlog was too small, or the processor too slow.
func SoftnetDrops() (int64, error) {
	const path = "/proc/net/softnet_stat"
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("fabric: count backlog drops: %w", err)
	}
	var sum int64
	for line := range strings.Lines(string(b)) {
		columns := strings.Fields(line)
		if len(columns) < 2 {
			continue
		}
		n, err := strconv.ParseInt(columns[1], 16, 64)
		if err != nil {
			return 0, fmt.Errorf("fabric: count backlog drops in %s: %w", path, err)
		}
		sum += n
	}
	return sum, nil
}

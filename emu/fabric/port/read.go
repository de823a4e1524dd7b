//go:build linux

package port

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// CreditQueue is the index of the credit class among Stats.Queues; levels have
// their own number.
const CreditQueue = MaxPriorities

// A Queue is one leaf queue. Bytes are those of frames: the IP packet and 14
// bytes of Ethernet header. A packet in transmission is no longer in a queue.
type Queue struct {
	Bytes, Packets         uint32 // waiting
	SentBytes, SentPackets uint64
	Drops                  uint32
}

// Stats is a port at one moment.
type Stats struct {
	At     int64 // when it was read: CLOCK_MONOTONIC of the kernel, in ns
	Queues [MaxPriorities + 1]Queue
	Marked uint64 // by RED or by eBPF; the latter only where markers were read too
}

// Backlog returns what waits in all queues of the port: what a record log
// calls its queue.
func (s *Stats) Backlog() (bytes, packets int64) {
	for i := range s.Queues {
		bytes += int64(s.Queues[i].Bytes)
		packets += int64(s.Queues[i].Packets)
	}
	return bytes, packets
}

// Sent returns the frames' bytes and the packets that have left all queues.
func (s *Stats) Sent() (bytes, packets int64) {
	for i := range s.Queues {
		bytes += int64(s.Queues[i].SentBytes)
		packets += int64(s.Queues[i].SentPackets)
	}
	return bytes, packets
}

// SentWireBytes returns what has left as the link counts it, Ethernet's overhead
// included. Frames shorter than 60 bytes count as they are, without padding.
func (s *Stats) SentWireBytes() int64 {
	bytes, packets := s.Sent()
	return bytes + packets*int64(wireOverhead)
}

// Drops returns the drops of the levels, which lose messages' packets, and of
// the credit class, which are meant to happen.
func (s *Stats) Drops() (levels, credits int64) {
	for i := range s.Queues[:MaxPriorities] {
		levels += int64(s.Queues[i].Drops)
	}
	return levels, int64(s.Queues[CreditQueue].Drops)
}

// Attributes of qdisc statistics (include/uapi/linux/gen_stats.h).
const (
	tcaStatsBasic = 1
	tcaStatsQueue = 3
	tcaStatsApp   = 4
)

// Read reads all ports of the namespace of conn with one dump. stats[i] is
// filled in for the interface with index first+i if that is in the namespace,
// and left alone otherwise. It allocates nothing and sets At to now.
func Read(conn *rtnl.Conn, stats []Stats, first int, now int64) error {
	r := reader{stats, first, now}
	return conn.Dump("dump qdiscs", unix.RTM_GETQDISC, make([]byte, 20), r.take)
}

type reader struct {
	stats []Stats
	first int
	now   int64
}

// take reads one qdisc of the dump. Handles show which are the leaf queues.
func (r *reader) take(typ uint16, body []byte) error {
	if typ != unix.RTM_NEWQDISC || len(body) < 20 {
		return nil
	}
	i := int(int32(binary.NativeEndian.Uint32(body[4:]))) - r.first
	handle := binary.NativeEndian.Uint32(body[8:])
	if i < 0 || i >= len(r.stats) {
		return nil
	}
	var q *Queue
	switch s := &r.stats[i]; {
	case handle == creditQueue:
		q = &s.Queues[CreditQueue]
	case handle >= levelQueue && handle < levelQueue+MaxPriorities<<16:
		q = &s.Queues[(handle-levelQueue)>>16]
	case handle == rootHandle:
		s.At = r.now
		return nil
	case handle == markHandle:
		// RED's own statistics (struct tc_red_xstats): early, pdrop, other, marked.
		if x := rtnl.Find(rtnl.Find(body[20:], unix.TCA_STATS2), tcaStatsApp); len(x) >= 16 {
			s.Marked = uint64(binary.NativeEndian.Uint32(x[12:]))
		}
		return nil
	default:
		return nil
	}
	q.read(rtnl.Find(body[20:], unix.TCA_STATS2))
	return nil
}

// ReadWireDrops adds to drops[i] what the wire with index first+i, if that is in the
// namespace of conn, has lost.
func ReadWireDrops(conn *rtnl.Conn, drops []int64, first int) error {
	return conn.Dump("dump qdiscs", unix.RTM_GETQDISC, make([]byte, 20), func(typ uint16, body []byte) error {
		if typ != unix.RTM_NEWQDISC || len(body) < 20 || binary.NativeEndian.Uint32(body[8:]) != rootHandle {
			return nil
		}
		if i := int(int32(binary.NativeEndian.Uint32(body[4:]))) - first; i >= 0 && i < len(drops) {
			var q Queue
			q.read(rtnl.Find(body[20:], unix.TCA_STATS2))
			drops[i] += int64(q.Drops)
		}
		return nil
	})
}

// read takes struct gnet_stats_basic and struct gnet_stats_queue.
func (q *Queue) read(stats []byte) {
	if b := rtnl.Find(stats, tcaStatsBasic); len(b) >= 12 {
		q.SentBytes = binary.NativeEndian.Uint64(b)
		q.SentPackets = uint64(binary.NativeEndian.Uint32(b[8:]))
	}
	if b := rtnl.Find(stats, tcaStatsQueue); len(b) >= 12 {
		q.Packets = binary.NativeEndian.Uint32(b)
		q.Bytes = binary.NativeEndian.Uint32(b[4:])
		q.Drops = binary.NativeEndian.Uint32(b[8:])
	}
}

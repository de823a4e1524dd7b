//go:build linux

// Package ring is a host's way to its interface: AF_PACKET sockets whose frames
// lie in memory shared with the kernel (PACKET_MMAP), so that receiving takes no
// system call and sending takes one for a batch.
//
//   - A Socket receives and sends through version 2 rings, which hand over each
//     frame as it comes. Host processes use it.
//   - A Tap only listens, through a version 3 ring, which hands over blocks of
//     frames. It is cheaper per frame and up to a millisecond later: captures
//     and traffic sinks use it.
//
// The kernel's side is net/packet/af_packet.c; packet(7) and
// Documentation/networking/packet_mmap.rst describe it, in part.
//
// # Memory shared with the kernel
//
// Every frame (every block of a Tap) begins with a status word that shows whose
// it is. The kernel writes the frame before it sets the word to USER; the
// process reads the word with an atomic load and the frame only after that. The
// process is done with the frame before it sets the word to KERNEL, with an
// atomic store; sending is the same with the words SEND_REQUEST and AVAILABLE.
// All other fields are plain memory that one side at a time touches. Go's atomics
// order as strongly as the kernel's barriers, on every architecture.
//
// # Ownership
//
// Sockets and taps belong to one goroutine. Frames are views into the shared
// memory: after Release, Commit or Close they are the kernel's, or unmapped, and
// touching them is an error that only a crash may reveal.
//
// A socket lives in the network namespace of the thread that opens it, and stays
// there: to open one elsewhere, lock the goroutine to a thread and enter the
// namespace (setns) around the call. Opening needs CAP_NET_RAW in the user
// namespace that owns the network namespace.
package ring

import (
	"fmt"
	"math/bits"
	"unsafe"

	"sirdbed/sirdnode/wire"

	"golang.org/x/sys/unix"
)

// Config is which interface a Socket binds to and how. The zero value with
// an Interface is what a host wants.
type Config struct {
	// Interface is the interface's name. When empty, Index is its number.
	Interface string
	Index     int
	// RxFrames and TxFrames are how many frames the rings have room for, rounded up to
	// a power of two. 0 gives 2 MB for receiving and 512 KB for sending, but at
	// least 256 and 64 frames. A frame takes 2 KB at MTU 1500 and 16 KB at 9000.
	RxFrames, TxFrames int
	// Protocol is the EtherType received, 0 for all (ETH_P_ALL). A socket for
	// all sees frames before an ingress redirect takes them elsewhere, one for
	// ETH_P_IP sees those that come back from it (net/core/dev.c,
	// __netif_receive_skb_core).
	Protocol uint16
	// Port receives UDP over IPv4 to that destination port alone, 0 all frames. What
	// the kernel's filter keeps out is in no count.
	Port uint16
	// Outgoing also receives what others send on the interface, never this
	// socket's own frames (skb_loop_sk). Only a socket for all protocols can.
	Outgoing bool
	// BypassQdisc hands frames to the driver without passing the interface's
	// qdisc: no shaping, no queue, no capture on the way out.
	BypassQdisc bool
	// SendBuffer limits what the kernel keeps of this socket's frames, in bytes
	// of its own accounting: 768 or so a frame besides the frame itself. 0 keeps
	// the system's default (net.core.wmem_default).
	SendBuffer int
}

// A Socket is an interface's raw frames, both ways. See the package comment for
// who may use it.
type Socket struct {
	fd      int
	link    link
	memory  []byte // both rings, as mapped
	rx      frames
	tx      frames
	maxSend int

	received uint64 // frames released: the number of the next one
	lent     bool   // Receive has returned it, and Release has not been called
	// Frames ever committed, of them taken by the kernel, of them done with:
	// committed >= taken >= done.
	committed, taken, done uint64
	blocked                bool // the last Flush met a full send buffer

	sendsAtWait bool    // the kernel can
	atWait      bool    // the next Wait is to send what is committed
	flushed     flushed // what became of that

	poll  poller
	stats Stats
}

// Stats count what a Socket or Tap has missed since it was opened.
type Stats struct {
	Drops       uint64 `json:"drops"`        // frames for which the ring had no room
	Truncated   uint64 `json:"truncated"`    // frames longer than the ring's frames, cut short
	WrongFormat uint64 `json:"wrong_format"` // frames to send that the kernel refused
}

// frames is one ring of a version 2 mapping.
type frames struct {
	memory    []byte
	frameSize int
	count     int // a power of two
}

// frame returns the nth frame ever, header included.
func (f *frames) frame(n uint64) []byte {
	at := int(n&uint64(f.count-1)) * f.frameSize
	return f.memory[at : at+f.frameSize : at+f.frameSize]
}

func (f *frames) header(n uint64) *unix.Tpacket2Hdr {
	return (*unix.Tpacket2Hdr)(unsafe.Pointer(&f.frame(n)[0]))
}

// Where data lies in a version 2 frame.
const (
	// sendOffset is tp_hdrlen - sizeof(struct sockaddr_ll), where tpacket_snd
	// reads: TPACKET_ALIGN(sizeof(struct tpacket2_hdr)).
	sendOffset = unix.SizeofTpacket2Hdr
	// receiveOffset is where tpacket_rcv puts an Ethernet frame: the network
	// header is at TPACKET_ALIGN(TPACKET2_HDRLEN + 16).
	receiveOffset = 80 - wire.EthernetLen

	vlanLen  = 4
	minBlock = 64 << 10
)

// FrameSize returns the size of a ring frame for an MTU: a power of two that
// has room for the kernel's header and a frame with a VLAN tag.
func FrameSize(mtu int) int {
	return max(2048, powerOfTwo(receiveOffset+mtu+wire.EthernetLen+vlanLen))
}

func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// Open opens a socket on an interface that is up. The rings are sized by its MTU
// at this moment.
func Open(c Config) (*Socket, error) {
	fd, link, err := openPacket(c.Interface, c.Index)
	if err != nil {
		return nil, err
	}
	s := &Socket{fd: fd, link: link, maxSend: link.mtu + wire.EthernetLen}
	s.poll.fds[0].Fd = int32(fd)
	if err := s.setUp(c); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Socket) setUp(c Config) error {
	if c.RxFrames < 0 || c.TxFrames < 0 {
		return s.link.fail("size the rings", fmt.Errorf("%d and %d frames: %w", c.RxFrames, c.TxFrames, unix.EINVAL))
	}
	size := FrameSize(s.link.mtu)
	s.rx = frames{frameSize: size, count: frameCount(c.RxFrames, max(256, 2<<20/size), size)}
	s.tx = frames{frameSize: size, count: frameCount(c.TxFrames, max(64, 512<<10/size), size)}
	options := []option{
		{"choose ring version 2 (PACKET_VERSION)", unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2},
	}
	if !c.Outgoing {
		options = append(options, option{"ignore outgoing frames (PACKET_IGNORE_OUTGOING, Linux 4.20)", unix.SOL_PACKET,
			unix.PACKET_IGNORE_OUTGOING, 1})
	}
	if c.BypassQdisc {
		options = append(options, option{"bypass the qdisc (PACKET_QDISC_BYPASS)", unix.SOL_PACKET,
			unix.PACKET_QDISC_BYPASS, 1})
	}
	if err := s.link.set(s.fd, options); err != nil {
		return err
	}
	if c.Port != 0 {
		if err := s.link.filter(s.fd, onlyPort(c.Port)); err != nil {
			return err
		}
	}
	if c.SendBuffer > 0 {
		if err := setSendBuffer(s.fd, c.SendBuffer); err != nil {
			return s.link.fail("set the send buffer", err)
		}
	}
	for _, r := range []struct {
		op     string
		option int
		frames *frames
	}{{"make the receive ring", unix.PACKET_RX_RING, &s.rx}, {"make the send ring", unix.PACKET_TX_RING, &s.tx}} {
		if err := unix.SetsockoptTpacketReq(s.fd, unix.SOL_PACKET, r.option, r.frames.request()); err != nil {
			return s.link.fail(r.op, err)
		}
	}
	s.sendsAtWait = unix.SetsockoptInt(s.fd, unix.SOL_PACKET, sendAtPoll, 1) == nil
	// One mapping has both rings, the receive ring first (packet_mmap).
	rxLen, txLen := s.rx.frameSize*s.rx.count, s.tx.frameSize*s.tx.count
	memory, err := mapRing(s.fd, rxLen+txLen)
	if err != nil {
		return s.link.fail("map the rings", err)
	}
	s.memory = memory
	s.rx.memory, s.tx.memory = memory[:rxLen:rxLen], memory[rxLen:]
	return s.link.bind(s.fd, c.Protocol)
}

// frameCount rounds what was asked for up to a power of two that fills whole
// blocks.
func frameCount(asked, otherwise, size int) int {
	if asked == 0 {
		asked = otherwise
	}
	return max(powerOfTwo(asked), minBlock/size)
}

func (f *frames) request() *unix.TpacketReq {
	block := max(minBlock, f.frameSize)
	return &unix.TpacketReq{
		Block_size: uint32(block),
		Block_nr:   uint32(f.frameSize * f.count / block),
		Frame_size: uint32(f.frameSize),
		Frame_nr:   uint32(f.count),
	}
}

// Index returns the index of the interface.
func (s *Socket) Index() int { return s.link.index }

// Stats asks the kernel for its count of drops and returns all counts since
// the socket was opened. It takes a system call.
func (s *Socket) Stats() (Stats, error) {
	kernel, err := unix.GetsockoptTpacketStats(s.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return s.stats, s.link.fail("read statistics", err)
	}
	s.stats.Drops += uint64(kernel.Drops) // reading resets the kernel's
	return s.stats, nil
}

// Drops returns how many frames the receive ring had no room for, since the
// socket was opened. It takes a system call.
func (s *Socket) Drops() (uint64, error) {
	stats, err := s.Stats()
	return stats.Drops, err
}

// Close unmaps the rings and closes the socket. Frames not taken by the kernel
// yet are lost; those in a queue of its still leave. Closing again does
// nothing.
func (s *Socket) Close() error {
	err := closeRing(s.fd, s.memory)
	s.fd, s.memory, s.rx.memory, s.tx.memory, s.lent = -1, nil, nil, nil, false
	if err != nil {
		return s.link.fail("close", err)
	}
	return nil
}

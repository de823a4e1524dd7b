//go:build linux

package ring

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"sirdbed/sirdnode/wire"

	"golang.org/x/sys/unix"
)

// TapConfig is what a Tap listens to. The zero value with an Interface sees
// whole frames in both directions.
type TapConfig struct {
	// Interface is the interface's name. When empty, Index is its number.
	Interface string
	Index     int
	// Protocol is the EtherType, 0 for all. Only a tap for all protocols sees
	// frames that the interface sends.
	Protocol uint16
	// ReceivedOnly leaves out what the interface sends.
	ReceivedOnly bool
	// SentOnly leaves out what the interface receives.
	SentOnly bool
	// Snaplen is how many bytes of each frame are kept, 0 for all.
	Snaplen int
	// BlockSize and Blocks size the ring: 8 blocks of 1 MB unless given.
	// BlockSize must be a multiple of the page size, with room for a frame.
	BlockSize, Blocks int
	// Retire is how long the kernel keeps a block that is not full, in whole
	// ms; 1 ms unless given. It is the longest a frame is delayed, and how
	// often the kernel's timer runs, traffic or not.
	Retire time.Duration
}

// A Frame is a frame as a Tap saw it.
type Frame struct {
	Data     []byte // from the Ethernet header on, up to Snaplen bytes
	Length   int    // the frame's length, without frame check sequence
	Realtime int64  // when the kernel saw it, CLOCK_REALTIME in ns
	Outgoing bool   // sent by this interface, not received
}

// A Tap sees frames on an interface, in both directions, and sends none. See
// the package comment for who may use it.
type Tap struct {
	fd        int
	link      link
	memory    []byte
	blockSize int
	blocks    int
	retire    time.Duration

	block int  // the block being read, or to be read next
	owned bool // it is this process's
	at    int  // where its next frame is
	left  int  // frames left in it

	stats Stats
}

// Where fields of a block and of a frame lie (struct tpacket_block_desc with
// tpacket_hdr_v1 in it, struct sockaddr_ll).
const (
	blockHeaderOffset = 8 // version, offset_to_priv
	addressOffset     = unix.SizeofTpacket3Hdr
	packetTypeOffset  = addressOffset + 10
	// tapFrameOffset is where tpacket_rcv puts an Ethernet frame at the
	// latest.
	tapFrameOffset = 96
)

// OpenTap opens a tap on an interface that is up.
func OpenTap(c TapConfig) (*Tap, error) {
	fd, link, err := openPacket(c.Interface, c.Index)
	if err != nil {
		return nil, err
	}
	t := &Tap{fd: fd, link: link, blockSize: c.BlockSize, blocks: c.Blocks, retire: c.Retire}
	if err := t.setUp(c); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Tap) setUp(c TapConfig) error {
	if t.blockSize == 0 {
		t.blockSize = 1 << 20
	}
	if t.blocks == 0 {
		t.blocks = 8
	}
	if t.retire == 0 {
		t.retire = time.Millisecond
	}
	frameSize := FrameSize(t.link.mtu)
	switch {
	case t.retire < time.Millisecond || t.retire%time.Millisecond != 0:
		return t.link.fail("set the block timer", fmt.Errorf("%v is not a positive number of ms: %w", t.retire,
			unix.EINVAL))
	case t.blockSize < frameSize+tapFrameOffset || t.blocks < 2:
		return t.link.fail("size the ring",
			fmt.Errorf("%d blocks of %d bytes: want 2 or more with room for a frame of "+
				"%d: %w",
				t.blocks, t.blockSize, t.link.mtu+wire.EthernetLen, unix.EINVAL))
	case c.SentOnly && (c.ReceivedOnly || c.Protocol != 0):
		return t.link.fail("choose frames", fmt.Errorf("what is sent shows only to a tap for all protocols: %w",
			unix.EINVAL))
	case c.Snaplen < 0:
		return t.link.fail("truncate frames", fmt.Errorf("snaplen %d: %w", c.Snaplen, unix.EINVAL))
	}
	options := []option{{"choose ring version 3 (PACKET_VERSION)", unix.SOL_PACKET, unix.PACKET_VERSION,
		unix.TPACKET_V3}}
	if c.ReceivedOnly {
		options = append(options, option{"ignore outgoing frames (PACKET_IGNORE_OUTGOING, Linux 4.20)", unix.SOL_PACKET,
			unix.PACKET_IGNORE_OUTGOING, 1})
	}
	if err := t.link.set(t.fd, options); err != nil {
		return err
	}
	if err := t.filter(c); err != nil {
		return t.link.fail("choose and truncate frames", err)
	}
	if err := unix.SetsockoptTpacketReq3(t.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &unix.TpacketReq3{
		Block_size: uint32(t.blockSize), Block_nr: uint32(t.blocks),
		// Version 3 packs frames; the kernel only checks that the figures agree.
		Frame_size: uint32(frameSize), Frame_nr: uint32(t.blockSize / frameSize * t.blocks),
		Retire_blk_tov: uint32(t.retire / time.Millisecond),
	}); err != nil {
		return t.link.fail("make the receive ring", err)
	}
	memory, err := mapRing(t.fd, t.blockSize*t.blocks)
	if err != nil {
		return t.link.fail("map the ring", err)
	}
	t.memory = memory
	return t.link.bind(t.fd, c.Protocol)
}

// filter attaches a classic BPF program: a packet filter's result is how much of
// the frame to keep (run_filter in tpacket_rcv).
func (t *Tap) filter(c TapConfig) error {
	keep := uint32(math.MaxInt32)
	if c.Snaplen > 0 {
		keep = uint32(c.Snaplen)
	}
	var program []unix.SockFilter
	if c.SentOnly {
		program = []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: packetTypeField},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.PACKET_OUTGOING, Jt: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		}
	} else if c.Snaplen == 0 {
		return nil
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: keep})
	return unix.SetsockoptSockFprog(t.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
}

// packetTypeField is SKF_AD_OFF + SKF_AD_PKTTYPE (include/uapi/linux/filter.h).
const packetTypeField = 0xfffff000 + 4

// Next returns the next frame, false when there is none yet. Its Data is valid
// until the next call of Next or Wait. It takes no system call and allocates
// nothing; the kernel gets a block back when the frame behind its last is asked
// for.
func (t *Tap) Next() (Frame, bool) {
	for t.left == 0 {
		if !t.nextBlock() {
			return Frame{}, false
		}
	}
	frame := t.memory[t.block*t.blockSize+t.at : (t.block+1)*t.blockSize]
	h := (*unix.Tpacket3Hdr)(unsafe.Pointer(&frame[0]))
	from, to := int(h.Mac), int(h.Mac)+int(h.Snaplen)
	t.left--
	t.at += int(h.Next_offset)
	return Frame{
		Data:     frame[from:to:to],
		Length:   int(h.Len),
		Realtime: int64(h.Sec)*1e9 + int64(h.Nsec),
		Outgoing: frame[packetTypeOffset] == unix.PACKET_OUTGOING,
	}, true
}

// nextBlock gives the block that was read back, and takes the next if the
// kernel is done with it.
func (t *Tap) nextBlock() bool {
	if t.owned {
		atomic.StoreUint32(&t.blockHeader().Block_status, unix.TP_STATUS_KERNEL)
		t.owned = false
		if t.block++; t.block == t.blocks {
			t.block = 0
		}
	}
	h := t.blockHeader()
	if atomic.LoadUint32(&h.Block_status)&unix.TP_STATUS_USER == 0 {
		return false
	}
	t.owned, t.at, t.left = true, int(h.Offset_to_first_pkt), int(h.Num_pkts)
	return true
}

func (t *Tap) blockHeader() *unix.TpacketHdrV1 {
	return (*unix.TpacketHdrV1)(unsafe.Pointer(&t.memory[t.block*t.blockSize+blockHeaderOffset]))
}

// Stats asks the kernel for its count of drops and returns all counts since
// the tap was opened. It takes a system call.
func (t *Tap) Stats() (Stats, error) {
	kernel, err := unix.GetsockoptTpacketStatsV3(t.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return t.stats, t.link.fail("read statistics", err)
	}
	t.stats.Drops += uint64(kernel.Drops) // reading resets the kernel's
	return t.stats, nil
}

// Drops returns how many frames the ring had no room for, since the tap was
// opened. It takes a system call.
func (t *Tap) Drops() (uint64, error) {
	stats, err := t.Stats()
	return stats.Drops, err
}

// Close unmaps the ring and closes the tap; frames not read yet are lost.
// Closing again does nothing.
func (t *Tap) Close() error {
	err := closeRing(t.fd, t.memory)
	t.fd, t.memory, t.left = -1, nil, 0
	if err != nil {
		return t.link.fail("close", err)
	}
	return nil
}

//go:build linux

// Package crossing is the memory that guests with one clock share: the barrier at the end of
// each quantum of time, and a ring for the frames from each guest to each other one. Guests'
// kernels use it (crossing.h and crossing.c in emu/virtual/kernel's patch, which has the same
// layout); who starts them makes it, and reads what it counts.
package crossing

import (
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxGuests is how many guests can share a clock.
const MaxGuests = 64

// The layout, in bytes.
const (
	magic     = 0x676e6973736f7263 // "crossing"
	ringsAt   = 4096
	ringHead  = 128     // of a ring: how much has been written, and read, a cache line each
	roomUnit  = 4096    // of which the room of a ring is a multiple
	leastRoom = 1 << 20 // of a ring
)

// running is what header.next has of a guest that has not come to the end of the quantum.
const running = math.MaxUint64

// header is what the file begins with. crossing.h has the meaning of each field: times are in
// ns of the guests' clock, but for waited, which is by the machine's. From the guests' start
// on they belong to the guests' kernels; here they are only read.
type header struct {
	magic, size     uint64
	lookahead, room uint64
	guests, members uint32
	awaited, turn   uint32
	horizon         uint64
	quanta          uint64
	next, waited    [MaxGuests]uint64
	left            [MaxGuests]uint32
}

// A Memory is the shared memory of some guests. It has no name, and goes with the last
// process that has it open. Quanta and Waited may be called at any time before Close, by any
// goroutine.
type Memory struct {
	file   *os.File
	mapped []byte
}

// New makes the memory of guests, 2 to MaxGuests, of which every frame from one to another
// takes lookahead by their clock, at least 1 ns. room is how many bytes of records a guest
// may send to another one in two quanta (the reader may be one behind), in each of which it
// sends for one lookahead at most; a frame's record has RecordBytes. The guest that sends more
// panics.
func New(guests int, lookahead time.Duration, room int64) (*Memory, error) {
	if guests < 2 || guests > MaxGuests || lookahead < 1 {
		return nil, fmt.Errorf("crossing: %d guests with a lookahead of %v: want 2 to %d, and 1ns at least", guests,
			lookahead, MaxGuests)
	}
	room = (max(room, leastRoom) + roomUnit - 1) / roomUnit * roomUnit
	size := ringsAt + int64(guests*guests)*(ringHead+room)
	fd, err := unix.MemfdCreate("crossing", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("crossing: %w", err)
	}
	m := &Memory{file: os.NewFile(uintptr(fd), "the guests' shared memory")}
	if err := m.file.Truncate(size); err != nil {
		m.file.Close()
		return nil, fmt.Errorf("crossing: %w", err)
	}
	if m.mapped, err = unix.Mmap(fd, 0, ringsAt, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		m.file.Close()
		return nil, fmt.Errorf("crossing: %w", err)
	}
	h := m.header()
	*h = header{magic: magic, size: uint64(size), lookahead: uint64(lookahead), room: uint64(room),
		guests: uint32(guests), members: uint32(guests), awaited: uint32(guests), horizon: uint64(lookahead)}
	for i := range h.next {
		h.next[i] = running
	}
	return m, nil
}

func (m *Memory) header() *header { return (*header)(unsafe.Pointer(&m.mapped[0])) }

// File is for the guests' kernels. It stays the Memory's.
func (m *Memory) File() *os.File { return m.file }

// Quanta is how many quanta of time the guests have gone through.
func (m *Memory) Quanta() int64 { return int64(atomic.LoadUint64(&m.header().quanta)) }

// Waited is how long a guest has waited for others at the end of quanta, by the machine's
// clock.
func (m *Memory) Waited(guest int) time.Duration {
	return time.Duration(atomic.LoadUint64(&m.header().waited[guest]))
}

// HeldUp reports whether a guest waits for others, of which one at least still runs: who
// shows no sign of progress then is that one.
func (m *Memory) HeldUp(guest int) bool {
	h := m.header()
	if atomic.LoadUint64(&h.next[guest]) == running {
		return false
	}
	for i := range h.guests {
		if atomic.LoadUint64(&h.next[i]) == running && atomic.LoadUint32(&h.left[i]) == 0 {
			return true
		}
	}
	return false
}

// Close gives the memory up; guests keep it.
func (m *Memory) Close() error {
	err := unix.Munmap(m.mapped)
	if e := m.file.Close(); err == nil {
		err = e
	}
	return err
}

// recordHead is what a record has besides its frame.
const recordHead = 48

// RecordBytes is what a frame of a length takes of a ring.
func RecordBytes(frame int64) int64 { return recordHead + (frame+7)&^7 }

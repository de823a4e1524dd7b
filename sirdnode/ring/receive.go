package ring

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Receive returns the oldest frame received and not released yet, from its
// Ethernet header on, and the CLOCK_REALTIME in ns at which the kernel stamped
// it (clock.Realtime converts). ok is false when there is none. It takes no
// system call and allocates nothing.
//
// The frame is the caller's, to change too, until Release; until then Receive
// returns it again.
func (s *Socket) Receive() (frame []byte, realtime int64, ok bool) {
	h := s.rx.header(s.received)
	if atomic.LoadUint32(&h.Status)&unix.TP_STATUS_USER == 0 {
		return nil, 0, false
	}
	s.lent = true
	from, to := int(h.Mac), int(h.Mac)+int(h.Snaplen)
	return s.rx.frame(s.received)[from:to:to], int64(h.Sec)*1e9 + int64(h.Nsec), true
}

// Release gives the frame that Receive returned back to the kernel. It does
// nothing when Receive has returned none since: a frame that came in between is
// not lost.
func (s *Socket) Release() {
	if !s.lent {
		return
	}
	s.lent = false
	h := s.rx.header(s.received)
	if h.Snaplen < h.Len {
		s.stats.Truncated++
	}
	atomic.StoreUint32(&h.Status, unix.TP_STATUS_KERNEL)
	s.received++
}

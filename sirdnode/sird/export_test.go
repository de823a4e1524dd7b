package sird

import "fmt"

// Leaks describes credit that is not back where it belongs when nothing is
// under way, at either half of a host; "" when all is.
func (s *SIRD) Leaks() string {
	switch {
	case s.sender.credit != 0:
		return fmt.Sprintf("sender holds %d of credit", s.sender.credit)
	case s.sender.unscheduled != 0:
		return fmt.Sprintf("sender counts %d unscheduled bytes", s.sender.unscheduled)
	case s.sender.count != 0:
		return fmt.Sprintf("sender counts %d messages", s.sender.count)
	case s.receiver.used != 0:
		return fmt.Sprintf("receiver counts %d of B in use", s.receiver.used)
	}
	for _, o := range s.sender.peers {
		if o != nil && (o.held() != 0 || o.unscheduled != 0 || len(o.messages) != 0 || len(o.again) != 0) {
			return fmt.Sprintf("sender's peer %d: held %d, unscheduled %d, %d messages, %d ranges", o.id, o.held(), o.unscheduled, len(o.messages), len(o.again))
		}
	}
	for _, i := range s.receiver.met {
		if i.inFlight() != 0 || i.charged != 0 || len(i.messages) != 0 {
			return fmt.Sprintf("receiver's peer %d: in flight %d, charged %d, %d messages", i.id, i.inFlight(), i.charged, len(i.messages))
		}
	}
	return ""
}

// Used returns the credit out of B, Held the credit at the sending half, and
// Bucket the size of a sender's bucket.
func (s *SIRD) Used() Bytes         { return s.receiver.used }
func (s *SIRD) Held() Bytes         { return s.sender.credit }
func (s *SIRD) Bucket(id int) Bytes { return s.receiver.peers[id].bucket() }

// Kind names a packet by its header.
func Kind(b []byte) string {
	var h header
	if h.decode(b) != nil {
		return "?"
	}
	return kindNames[h.kind]
}

// Flags returns whether a packet's header has csn, scheduled and request set.
func Flags(b []byte) (marked, paid, asks bool) {
	var h header
	h.decode(b)
	return h.flags&csn != 0, h.flags&scheduled != 0, h.flags&request != 0
}

// NewLoops gives tests the control loops of one sender.
func NewLoops(p *Params, frame Bytes) *loops { l := newLoops(p, frame); return &l }

// Sample feeds a packet.
func (l *loops) Sample(p *Params, ce, csn bool) { l.sample(p, ce, csn) }

// Buckets returns the sender's and the network's bucket.
func (l *loops) Buckets() (sender, net Bytes) { return l.sender.bucket, l.net.bucket }

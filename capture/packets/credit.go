package packets

import (
	"cmp"
	"maps"
	"slices"

	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Credit is the credit that one host gave another, in its protocol's unit. What was
// granted and not used, or lost on its way, counts as outstanding.
type Credit struct {
	Protocol string `json:"protocol"`
	From     string `json:"from"` // who grants
	To       string `json:"to"`   // who spends
	Unit     string `json:"unit"` // "wire bytes", "payload bytes" or "packets"
	Granted  int64  `json:"granted"`
	Spent    int64  `json:"spent"`
	// Outstanding is granted less spent, as the packets show it where they are seen first.
	Outstanding int64    `json:"outstanding"` // in the end
	Mean        float64  `json:"outstanding_mean"`
	Max         int64    `json:"outstanding_max"`
	Over        []Sample `json:"outstanding_over_time"`
}

// A Sample is the largest value in a span of time from At to the next one's.
type Sample struct {
	At  int64 `json:"at_ns"`
	Max int64 `json:"max"`
}

var creditUnits = map[wire.CreditKind]string{
	wire.CreditTotals: "wire bytes", wire.CreditOffsets: "payload bytes", wire.CreditPackets: "packets",
}

type ledgerKey struct {
	sender, receiver topo.Addr
	port             uint16
}

// A ledger is the credit of a pair of hosts.
type ledger struct {
	Credit
	granted, spent total
	over           series
}

// A total is one that packets carry modulo 2^32, of an epoch.
type total struct {
	last  uint32
	epoch uint32
	sum   int64
}

// to takes over the total that a packet has, unless it is an older one.
func (t *total) to(n, epoch uint32) {
	if epoch != t.epoch {
		if (epoch-t.epoch)&15 > 8 {
			return
		}
		t.last, t.epoch = 0, epoch
	}
	if step := int32(n - t.last); step > 0 {
		t.last += uint32(step)
		t.sum += int64(step)
	}
}

// grantedTo is how far a message may be sent by grants that name an offset.
type grantedTo struct {
	prefix  int64 // bytes that need no grant
	granted int64
	spent   int64
}

type ledgers struct {
	pairs map[ledgerKey]*ledger
	full  map[uint16]int64 // largest payload by protocol: a full packet's
}

func (l *ledgers) init() { l.pairs, l.full = map[ledgerKey]*ledger{}, map[uint16]int64{} }

// add accounts for the credit of a packet. m is its message, nil if that is not known.
func (l *ledgers) add(p *Packet, m *message) {
	h := p.Protocol.Header
	if h.Credit == wire.NoCredit {
		return
	}
	sender, receiver := p.pair()
	key := ledgerKey{sender, receiver, p.Protocol.Port}
	x := l.pairs[key]
	if x == nil && len(l.pairs) >= mostHosts {
		return
	}
	if x == nil {
		x = &ledger{Credit: Credit{
			Protocol: p.Protocol.Name, From: p.name(receiver), To: p.name(sender), Unit: creditUnits[h.Credit],
		}}
		l.pairs[key] = x
	}
	fromReceiver := h.From(p.Type, p.Header) == wire.Receiver
	l.full[key.port] = max(l.full[key.port], int64(p.Payload))
	switch h.Credit {
	case wire.CreditTotals:
		n, ok := p.value(wire.CreditTotal)
		epoch, _ := p.value(wire.CreditEpoch)
		switch {
		case !ok:
		case fromReceiver:
			x.granted.to(n, epoch)
		default:
			x.spent.to(n, epoch)
		}
		x.Granted, x.Spent = x.granted.sum, x.spent.sum
		x.Outstanding = int64(x.granted.last)
		if x.granted.epoch == x.spent.epoch {
			x.Outstanding = int64(int32(x.granted.last - x.spent.last))
		}
	case wire.CreditOffsets:
		if m != nil {
			x.offsets(p, m, l.full[key.port])
		}
		x.Outstanding = x.Granted - x.Spent
	case wire.CreditPackets:
		switch {
		case p.Type.Grant:
			x.Granted++
		case p.Type.Data && !p.flag(wire.Free):
			x.Spent++
		}
		x.Outstanding = x.Granted - x.Spent
	}
	x.Outstanding = max(0, x.Outstanding)
	x.over.add(p.At, x.Outstanding)
}

// offsets accounts for a grant up to an offset, and for data beyond the prefix.
func (x *ledger) offsets(p *Packet, m *message, full int64) {
	if n, ok := p.value(wire.Unscheduled); ok {
		m.grant.prefix = int64(n) * full
		if m.Size > 0 {
			m.grant.prefix = min(m.grant.prefix, m.Size)
		}
	}
	offset, _ := p.value(wire.Offset)
	g := &m.grant
	switch {
	case p.Type.Grant:
		if to := int64(offset); to > max(g.granted, g.prefix) {
			x.Granted += to - max(g.granted, g.prefix)
			g.granted = to
		}
	case p.Type.Data:
		if to := int64(offset) + int64(p.Payload); to > max(g.spent, g.prefix) {
			x.Spent += to - max(g.spent, g.prefix)
			g.spent = to
		}
	}
}

func (l *ledgers) list() (list []Credit) {
	for _, key := range slices.SortedFunc(maps.Keys(l.pairs), func(a, b ledgerKey) int {
		return cmp.Or(compareAddr(a.receiver, b.receiver), compareAddr(a.sender, b.sender), cmp.Compare(a.port, b.port))
	}) {
		x := l.pairs[key]
		if x.Granted == 0 && x.Spent == 0 {
			continue
		}
		x.Mean, x.Max = x.over.mean(), x.over.most
		x.Over = x.over.samples()
		list = append(list, x.Credit)
	}
	return list
}

// seriesBins is how many spans of time a series has at most.
const seriesBins = 64

// A series is a value over time. Its spans double whenever they do not suffice.
type series struct {
	begun       bool
	start, last units.Time
	width       units.Time
	bins        []int64 // largest value in each span
	value, most int64
	sum         float64 // value times time
}

func (s *series) add(at units.Time, value int64) {
	if !s.begun {
		s.begun, s.start, s.last, s.width = true, at, at, units.Microsecond
	}
	at = max(at, s.last)
	s.fill(at)
	s.sum += float64(s.value) * float64(at-s.last)
	s.last, s.value, s.most = at, value, max(s.most, value)
	bin := &s.bins[len(s.bins)-1]
	*bin = max(*bin, value)
}

// fill has the last value hold until a time.
func (s *series) fill(at units.Time) {
	for (at-s.start)/s.width >= seriesBins {
		half := make([]int64, (len(s.bins)+1)/2, seriesBins)
		for i, n := range s.bins {
			half[i/2] = max(half[i/2], n)
		}
		s.bins, s.width = half, 2*s.width
	}
	for len(s.bins) <= int((at-s.start)/s.width) {
		s.bins = append(s.bins, s.value)
	}
}

func (s *series) mean() float64 {
	if s.last == s.start {
		return float64(s.value)
	}
	return s.sum / float64(s.last-s.start)
}

func (s *series) samples() (list []Sample) {
	for i, n := range s.bins {
		list = append(list, Sample{int64(s.start + units.Time(i)*s.width), n})
	}
	return list
}

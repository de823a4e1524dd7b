//go:build linux

package port

import (
	"errors"
	"fmt"
	"math/bits"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo/units"
)

// Markers marks packets with an eBPF program at the egress of each port, for
// kernels without sch_red. It needs CAP_BPF and CAP_NET_ADMIN in the machine's
// own user namespace.
//
// The program is a cls_bpf filter of clsact, not a TCX link: each TCX attachment
// and detachment waits for an RCU grace period (tcx_entry_sync), which makes 2.5
// seconds of a fabric of 216 marking ports; a filter goes with the batch and
// vanishes with its namespace. The hook is the same, just before the qdisc.
//
// It cannot see the qdisc's queues, so it keeps a virtual one for each level,
// drained by strict priority at the link's rate with the same burst as HTB. It
// counts what waits in all levels, as RED does. Packets of the credit class it leaves
// alone, unseen.
//
// One program and one map serve all ports of a fabric: the ports' interface
// indices, unique across its namespaces, are the keys. Each port's entry has a
// spin lock, since several CPUs may send on one port.
//
// Methods are safe for concurrent use, Close excepted.
type Markers struct {
	program *ebpf.Program
	state   *ebpf.Map
	first   int
}

// NewMarkers loads the program for interfaces with indices from first to
// first+n-1.
func NewMarkers(first, n int) (*Markers, error) {
	state, err := ebpf.NewMap(markerMap(n))
	if err != nil {
		return nil, markerError(err)
	}
	program, err := ebpf.NewProgram(markerProgram(state, first))
	if err != nil {
		state.Close()
		return nil, markerError(err)
	}
	return &Markers{program: program, state: state, first: first}, nil
}

// Install adds the requests that make a port mark; its interface must be within
// the range given to NewMarkers. The requests must be carried out before Close.
func (m *Markers) Install(b *rtnl.Batch, index int, device string, c Config) error {
	c, err := c.defaulted()
	if err != nil {
		return err
	}
	s := newMarkerState(&c)
	if err := m.state.Put(uint32(index-m.first), &s); err != nil {
		return fmt.Errorf("set up eBPF marker at %s: %w", device, err)
	}
	p := tree{b: b, index: index, device: device}
	p.clsact()
	p.b.Request("add filter bpf", device, unix.RTM_NEWTFILTER, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Traffic(index, 0, clsactEgress, filterInfo(unix.ETH_P_ALL)))
	b.String(unix.TCA_KIND, "bpf")
	b.Nest(unix.TCA_OPTIONS, nil, func() {
		b.Uint32(tcaBPFFD, uint32(m.program.FD()))
		b.String(tcaBPFName, markerName)
		b.Uint32(tcaBPFFlags, bpfDirectAction)
	})
	return nil
}

// ChangeRate gives the marker of a port the rate of c, which is otherwise what it was
// installed with. What passes at this very moment may be missing in its statistics.
func (m *Markers) ChangeRate(index int, c Config) error {
	c, err := c.defaulted()
	if err != nil {
		return err
	}
	key, next := uint32(index-m.first), newMarkerState(&c)
	var s markerState
	if err := m.state.LookupWithFlags(key, &s, ebpf.LookupLock); err != nil {
		return fmt.Errorf("read eBPF marker of interface %d: %w", index, err)
	}
	for i := range s.Queue { // the same bytes in other time
		s.Queue[i] = scale(s.Queue[i], next.PerByte, s.PerByte)
	}
	s.Spare = min(scale(s.Spare, next.PerByte, s.PerByte), next.Burst)
	s.PerByte, s.Burst, s.Threshold = next.PerByte, next.Burst, next.Threshold
	if err := m.state.Update(key, &s, ebpf.UpdateLock); err != nil {
		return fmt.Errorf("change eBPF marker of interface %d: %w", index, err)
	}
	return nil
}

// Attributes and flags of cls_bpf (include/uapi/linux/pkt_cls.h).
const (
	tcaBPFFD    = 6
	tcaBPFName  = 7
	tcaBPFFlags = 8

	bpfDirectAction = 1
)

// Close lets the program and its state go: ports go on marking until their
// namespaces end, but can no longer be read. Closing twice does nothing.
func (m *Markers) Close() error { return errors.Join(m.program.Close(), m.state.Close()) }

// histogramBuckets is the number of buckets of a marker's histogram.
const histogramBuckets = 64

// MarkerStats is what a marker has seen since it was attached. Bytes are those
// of frames, and of the virtual queue: within about a frame of the real one.
type MarkerStats struct {
	Packets uint64
	Marked  uint64
	Max     units.Bytes // most that a packet found waiting
	// Histogram counts packets by what they found waiting: bucket i for
	// Width*i bytes up to Width*(i+1), the last one for all above.
	Histogram [histogramBuckets]uint64
	Width     float64
}

// Read returns what the marker of a port has seen.
func (m *Markers) Read(index int) (MarkerStats, error) {
	var s markerState
	if err := m.state.LookupWithFlags(uint32(index-m.first), &s, ebpf.LookupLock); err != nil {
		return MarkerStats{}, fmt.Errorf("read eBPF marker of interface %d: %w", index, err)
	}
	out := MarkerStats{Packets: s.Packets, Marked: s.Marked, Histogram: s.Histogram}
	if s.FrameTime > 0 {
		perUnit := float64(s.FrameBytes) / float64(s.FrameTime)
		out.Max = units.Bytes(float64(s.Max)*perUnit + 0.5)
		out.Width = float64(uint64(1)<<s.BucketShift) * perUnit
	}
	return out, nil
}

// markerState is a map entry. Times are in 1/256 ns (timeShift); queues are
// measured in the time that the link needs for them.
type markerState struct {
	Lock, _ uint32

	Last  uint64                // last arrival
	Spare uint64                // unused tokens, at most Burst
	Queue [MaxPriorities]uint64 // by level

	PerByte     uint64 // time of a byte, in 1/256 of a time unit
	Burst       uint64 // time
	Threshold   uint64 // time
	Top         uint64 // highest level
	CreditMask  uint64 // bits of the TOS octet that make a packet a credit
	BucketShift uint64

	Packets   uint64
	Marked    uint64
	Max       uint64 // time
	Histogram [histogramBuckets]uint64

	// For readers only: a full frame's bytes and time.
	FrameBytes, FrameTime uint64
}

// timeShift is the fixed-point precision of times: at 400 Gbit/s a byte takes
// 0.02 ns.
const timeShift = 8

func newMarkerState(c *Config) markerState {
	perByte := timeOf(1<<timeShift, c)
	frame := uint64(c.MTU + wire.EthernetLen)
	frameTime := (frame + uint64(wireOverhead)) * perByte >> timeShift
	s := markerState{
		PerByte:    perByte,
		Burst:      uint64(c.Burst) * perByte >> timeShift,
		Threshold:  scale(uint64(c.Mark), frameTime, frame),
		Top:        uint64(c.Priorities - 1),
		FrameBytes: frame,
		FrameTime:  frameTime,
	}
	if c.Credit.Share > 0 {
		s.CreditMask = wire.CreditTOS
	}
	// The step lies within the first eighth to quarter of the histogram.
	s.BucketShift = uint64(max(0, bits.Len64(s.Threshold)-4))
	return s
}

// timeOf returns how long n bytes take, in time units.
func timeOf(n uint64, c *Config) uint64 { return scale(n, 1e9<<timeShift, c.bytesPerSecond()) }

// scale is a*b/c without overflow on the way, saturated.
func scale(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// markerError makes lacking rights and lacking kernel features errors of their
// own.
func markerError(err error) error {
	const feature, instead = "ECN marking (eBPF)", "sch_red"
	switch {
	case errors.Is(err, os.ErrPermission):
		return &NotSupportedError{Feature: feature, Option: "root, and not in a user namespace", Err: err,
			Instead: instead}
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, unix.ENOSYS):
		return &NotSupportedError{Feature: feature, Option: "CONFIG_BPF_SYSCALL, CONFIG_DEBUG_INFO_BTF", Err: err,
			Instead: instead}
	}
	return fmt.Errorf("eBPF marker: %w", err)
}

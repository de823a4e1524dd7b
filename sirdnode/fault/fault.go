// Package fault makes a network worse on purpose, so that loss recovery can be watched:
// a Config drops, duplicates, reorders and corrupts a share of the frames that hosts
// receive, all the time; a Timeline has links and hosts fail at given times.
//
// A Shim, and a Line of a Timeline, decide and touch nothing, which is why they serve the
// raw-socket host and the model engine alike. A DelayLine keeps the frames that the
// raw-socket host is to deliver later.
package fault

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Config is how often each fault happens, as a share of the frames received.
// The zero value has no faults.
type Config struct {
	// Share of frames that are lost.
	Drop float64 `yaml:"drop,omitempty" json:"drop,omitempty"`
	// Share of frames that arrive twice.
	Duplicate float64 `yaml:"duplicate,omitempty" json:"duplicate,omitempty"`
	// Share of frames that are delayed, so that later ones overtake them.
	Reorder float64 `yaml:"reorder,omitempty" json:"reorder,omitempty"`
	// Longest delay of such a frame, 10us unless given; each is delayed for a random part of it.
	ReorderDelay units.Time `yaml:"reorder_delay,omitempty" json:"reorder_delay,omitempty"`
	// Share of frames in which one bit is flipped.
	Corrupt float64 `yaml:"corrupt,omitempty" json:"corrupt,omitempty"`
}

// defaultReorderDelay is the longest delay unless the Config states one.
const defaultReorderDelay = 10 * units.Microsecond

// Validate reports the first impossible field as a *topo.SpecError.
func (c Config) Validate() error {
	if e, ok := errors.AsType[*limit.Error](limit.Faults.Check(c)); ok {
		return &topo.SpecError{Field: e.Field, Reason: e.Reason}
	}
	if c.ReorderDelay > 0 && c.Reorder == 0 {
		return &topo.SpecError{Field: "reorder_delay", Reason: "has no effect without reorder"}
	}
	return nil
}

// Enabled reports whether any fault can happen.
func (c Config) Enabled() bool {
	return c.Drop > 0 || c.Duplicate > 0 || c.Reorder > 0 || c.Corrupt > 0
}

// String is the faults in words: "drop 1 %, reorder 0.2 % by up to 5us".
func (c Config) String() string {
	var texts []string
	for _, f := range []struct {
		kind  Kind
		share float64
	}{{Drop, c.Drop}, {Duplicate, c.Duplicate}, {Reorder, c.Reorder}, {Corrupt, c.Corrupt}} {
		if f.share > 0 {
			text := fmt.Sprintf("%s %s", f.kind, percent(f.share))
			if f.kind == Reorder && c.ReorderDelay > 0 {
				text += fmt.Sprintf(" by up to %v", c.ReorderDelay)
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

// percent is a share as people write it, without what binary fractions add.
func percent(share float64) string { return fmt.Sprintf("%g %%", math.Round(1e9*share)/1e7) }

// A Verdict is what happens to one frame.
type Verdict struct {
	// Drop: the frame is lost, and nothing else happens to it.
	Drop bool
	// Duplicate: the frame is delivered twice.
	Duplicate bool
	// Delay, when positive, is by how much later the frame is delivered. Of a
	// frame that is also duplicated one copy is delivered at once: the other one
	// comes late.
	Delay units.Time
	// FlipBit is the bit of the frame to flip in all its copies, counted from
	// the first bit of the Ethernet header and always past it; -1 for none.
	FlipBit int
}

// Counters are what a Shim has done.
type Counters struct {
	Frames     uint64 `json:"frames"` // frames looked at
	Dropped    uint64 `json:"dropped"`
	Duplicated uint64 `json:"duplicated"`
	Delayed    uint64 `json:"delayed"`
	Corrupted  uint64 `json:"corrupted"`
}

// ethernetBits is the part of a frame in which no bit is flipped: a frame with
// another MAC address would not have reached the host.
const ethernetBits = wire.EthernetLen * 8

// A Shim decides what happens to each frame that a host receives. The same
// seed and the same frames give the same verdicts, and each kind of fault draws
// from a sequence of its own: which frames are dropped does not change when
// corruption is switched on.
//
// A nil Shim has no faults. A Shim belongs to one goroutine; it allocates
// nothing.
type Shim struct {
	config   Config
	counters Counters

	drop, duplicate, reorder, corrupt rand.PCG
}

// Seed gives each host's shim faults of its own, the same in every engine.
func Seed(run uint64, host topo.HostID) uint64 { return run ^ uint64(host+1)<<32 }

// New returns a shim for one host, see Seed. It fails, with a *topo.SpecError, on a
// config that Validate refuses.
func New(c Config, seed uint64) (*Shim, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.ReorderDelay == 0 {
		c.ReorderDelay = defaultReorderDelay
	}
	s := &Shim{config: c}
	s.seed(seed)
	return s, nil
}

func (s *Shim) seed(seed uint64) {
	for i, stream := range []*rand.PCG{&s.drop, &s.duplicate, &s.reorder, &s.corrupt} {
		stream.Seed(seed, uint64(i)+1)
	}
}

// Next decides what happens to the next frame, of length bytes from its
// Ethernet header on.
func (s *Shim) Next(length int) Verdict {
	if s == nil {
		return Verdict{FlipBit: -1}
	}
	v := s.next(length, ethernetBits)
	s.count(&v)
	return v
}

// next draws what happens to a frame. Its first spared bits are not flipped.
func (s *Shim) next(length, spared int) Verdict {
	v := Verdict{FlipBit: -1}
	s.counters.Frames++
	// Every sequence is drawn from for every frame, dropped or not.
	v.Drop = happens(&s.drop, s.config.Drop)
	v.Duplicate = happens(&s.duplicate, s.config.Duplicate)
	if happens(&s.reorder, s.config.Reorder) {
		v.Delay = 1 + units.Time(below(&s.reorder, uint64(s.config.ReorderDelay)))
	}
	if happens(&s.corrupt, s.config.Corrupt) {
		if bits := length*8 - spared; bits > 0 {
			v.FlipBit = spared + int(below(&s.corrupt, uint64(bits)))
		}
	}
	return v
}

func (s *Shim) count(v *Verdict) {
	if v.Drop {
		s.counters.Dropped++
		*v = Verdict{Drop: true, FlipBit: -1}
		return
	}
	if v.Duplicate {
		s.counters.Duplicated++
	}
	if v.Delay > 0 {
		s.counters.Delayed++
	}
	if v.FlipBit >= 0 {
		s.counters.Corrupted++
	}
}

// Counters returns what the shim has done so far.
func (s *Shim) Counters() Counters {
	if s == nil {
		return Counters{}
	}
	return s.counters
}

// Flip flips a bit as a Verdict names it; it does nothing for -1.
func Flip(frame []byte, bit int) {
	if bit >= 0 {
		frame[bit/8] ^= 0x80 >> (bit % 8)
	}
}

// happens draws whether something of probability p happens: never for 0,
// always for 1.
func happens(r *rand.PCG, p float64) bool {
	return float64(r.Uint64()>>11)/(1<<53) < p
}

// below draws from 0 to n-1. The bias is n/2^64, which no run can see.
func below(r *rand.PCG, n uint64) uint64 { return r.Uint64() % n }

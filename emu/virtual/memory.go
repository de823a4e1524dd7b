//go:build linux

package virtual

import (
	"fmt"

	"sirdbed/emu"
	"sirdbed/emu/real"
	"sirdbed/emu/virtual/guest"
	"sirdbed/topo"
	"sirdbed/traffic"
)

// What a guest's memory goes to. The garbage collector is off (see noCollector), so
// that whatever a run allocates stays; idle time allocates next to nothing, and what has
// been written is forgotten (see fileCache). TestMemoryIsEnough has what was measured.
const (
	// guestMemory is for the kernel, the controller, and the cache of files, which
	// a guest fills before it reclaims any. Logs that wait for the disk are a part
	// of that; with less room for them hosts would wait in writing, and be late.
	guestMemory = 192 << 20
	// hostMemory is a Go process and what the kernel has of its namespace: 7.3 MB of 144,
	// of 500 and of 1,000, besides its receive ring.
	hostMemory = 10 << 20
	// tcpMemory is what kernel TCP's buffers of a host grow to.
	tcpMemory = 32 << 20
	// messageMemory is what a message and its reply leave behind at both ends: with SIRD
	// 8 bytes each, with Swift 32.
	messageMemory = 128
	// serveMemory is for the messages of a host's programs, which it keeps in pieces that
	// it uses again, and what each message leaves behind.
	serveMemory = 48 << 20
	// sampleMemory is what reading a switch's queues once leaves behind.
	sampleMemory = 32
	// tickMemory is what a report of the controller leaves behind.
	tickMemory = 512
)

// memory is what the guest of an experiment may use, in bytes.
func memory(f *topo.Fabric, x *emu.Experiment) (int64, error) {
	messages, err := messages(f, x)
	if err != nil {
		return 0, err
	}
	frame := int64(2048)
	for frame < int64(f.Spec.MTU)+128 {
		frame *= 2
	}
	host := hostMemory + rxFrames*frame
	if emu.KernelTCP(x) {
		host = hostMemory + tcpMemory
	}
	if x.Serves() {
		host += serveMemory
	}
	taps := x.CapturedPorts(f)
	samples := 0.0
	if x.QueueEvery > 0 {
		samples = float64(x.End()/x.QueueEvery) * float64(len(f.Nodes)-len(f.Hosts))
	}
	sum := guestMemory + float64(len(f.Hosts))*float64(host) + float64(taps)*float64(real.TapMemory) +
		messages*messageMemory + samples*sampleMemory + maxTicks*tickMemory
	sum += float64(len(x.Apps)) * programMemory
	return int64(min(sum, 1<<60)), nil
}

// messages is how many messages an experiment offers, about, replies included.
func messages(f *topo.Fabric, x *emu.Experiment) (sum float64, err error) {
	offered, err := traffic.OfferedLoad(f, x.Streams)
	if err != nil {
		return 0, err
	}
	end := x.Warmup + x.Duration
	for i := range x.Streams {
		s := &x.Streams[i]
		until := end
		if s.Stop != 0 {
			until = min(until, s.Stop)
		}
		rate := float64(offered[i].Rate)
		if s.Pattern == traffic.PatternOutcast { // as fast as links
			rate = float64(f.Spec.HostRate) * float64(offered[i].Senders)
		}
		n := rate / 8 * max(0, until-s.Start).Seconds() / max(1, offered[i].MeanSize)
		if s.Pattern == traffic.PatternList {
			n = float64(len(s.Messages))
		}
		if s.Reply > 0 || s.Pattern == traffic.PatternList {
			n *= 2
		}
		sum += n
	}
	return sum, nil
}

// checkMemory returns an error if what all guests of an experiment may use, in bytes, does not
// fit on this machine.
func checkMemory(f *topo.Fabric, x *emu.Experiment, size int64) error {
	if err := guest.CheckRoom(size); err != nil {
		n, _ := messages(f, x)
		guests := "a guest takes"
		if count(x) > 1 {
			guests = fmt.Sprintf("%d guests take", count(x))
		}
		return &noRoomError{fmt.Errorf("%s up to %d MB of memory for %d hosts and %.3g messages in %v: run "+
			"fewer hosts, less traffic or a shorter time, or make room: %w", guests, size>>20, len(f.Hosts), n, x.End(),
			err)}
	}
	return nil
}

// A noRoomError is that of a guest for which this machine is too small.
type noRoomError struct{ error }

func (e *noRoomError) Unwrap() error        { return e.error }
func (e *noRoomError) Is(target error) bool { return target == emu.ErrNotSupported }

package ring

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// A PumpResult is what a pump has moved. It is the reference that a host's
// throughput is compared with: the same sockets, and nothing else to do.
type PumpResult struct {
	Frames  uint64 `json:"frames"`
	Bytes   uint64 `json:"bytes"` // of the frames from their Ethernet header on
	SpanNS  int64  `json:"span_ns"`
	Drops   uint64 `json:"drops"`    // receiver: frames for which its ring had no room
	Waits   uint64 `json:"waits"`    // sender: times it met back-pressure
	FirstNS int64  `json:"first_ns"` // receiver: stamp of the first frame, CLOCK_REALTIME
	LastNS  int64  `json:"last_ns"`
}

// PacketsPerSecond returns the packet rate over the span.
func (r PumpResult) PacketsPerSecond() float64 { return r.per(r.Frames) }

// Gbps returns the rate of the frames' bytes over the span, without preamble,
// frame check sequence and gap.
func (r PumpResult) Gbps() float64 { return r.per(r.Bytes) * 8 / 1e9 }

func (r PumpResult) per(n uint64) float64 {
	if r.SpanNS <= 0 {
		return 0
	}
	return float64(n) / float64(r.SpanNS) * 1e9
}

// PumpLimit is when a pump stops: at the first limit that it reaches. Zero
// fields do not limit.
type PumpLimit struct {
	Frames   uint64
	Duration time.Duration // from its first frame on
	Idle     time.Duration // receiver: without a frame for so long, before the first too
}

const (
	// pumpBatch is how many frames go into one system call: enough to hide
	// its cost, few enough to stay in the first-level cache.
	pumpBatch = 64
	// pumpPause is how long the sender leaves the receiver alone after
	// back-pressure.
	pumpPause = int64(20 * time.Microsecond)
)

// PumpSend sends one frame over and over, as fast as the kernel takes it. The
// frame is written into each place of the send ring once: what it measures is
// the kernel's path. It blocks the thread, which should be locked.
func PumpSend(s *Socket, frame []byte, limit PumpLimit) (PumpResult, error) {
	var result PumpResult
	if limit.Frames == 0 && limit.Duration == 0 {
		return result, fmt.Errorf("pump: neither a number of frames nor a duration: %w", unix.EINVAL)
	}
	if len(frame) > s.maxSend {
		return result, fmt.Errorf("pump: a frame of %d bytes on an interface for %d: %w", len(frame), s.maxSend,
			unix.EMSGSIZE)
	}
	start := clock.Monotonic()
	now := start
	for limit.more(result.Frames, now-start) {
		batch := pumpBatch
		if limit.Frames > 0 {
			batch = int(min(pumpBatch, limit.Frames-result.Frames))
		}
		for range batch {
			place := s.Reserve()
			if place == nil {
				break
			}
			if result.Frames < uint64(s.tx.count) {
				copy(place, frame)
			}
			s.Commit(len(frame))
			result.Frames++
		}
		err := s.Flush()
		if err != nil && !errors.Is(err, ErrBackPressure) {
			return result, err
		}
		if err != nil || s.Reserve() == nil {
			result.Waits++
			if err := clock.SleepUntil(clock.Monotonic() + pumpPause); err != nil {
				return result, err
			}
		}
		now = clock.Monotonic()
	}
	for s.Pending() > 0 {
		if err := s.Flush(); err != nil && !errors.Is(err, ErrBackPressure) {
			return result, err
		}
		if err := clock.SleepUntil(clock.Monotonic() + pumpPause); err != nil {
			return result, err
		}
	}
	result.SpanNS = clock.Monotonic() - start
	result.Bytes = result.Frames * uint64(len(frame))
	return result, nil
}

func (l PumpLimit) more(frames uint64, span int64) bool {
	return (l.Frames == 0 || frames < l.Frames) && (l.Duration == 0 || span < int64(l.Duration))
}

// PumpReceive counts the frames that a socket receives. Rates are between the
// kernel's stamps of the first and the last frame, so that it does not matter
// when the pump was started. It blocks the thread, which should be locked.
func PumpReceive(s *Socket, limit PumpLimit) (PumpResult, error) {
	next := func() (int, int64, bool) {
		frame, at, ok := s.Receive()
		length := len(frame)
		s.Release()
		return length, at, ok
	}
	return pumpFrom(next, s.Wait, s.Drops, limit)
}

// PumpTap is PumpReceive for a tap, which is cheaper. It counts both
// directions unless the tap is for received frames only.
func PumpTap(t *Tap, limit PumpLimit) (PumpResult, error) {
	next := func() (int, int64, bool) {
		frame, ok := t.Next()
		return frame.Length, frame.Realtime, ok
	}
	return pumpFrom(next, t.Wait, t.Drops, limit)
}

func pumpFrom(
	next func() (length int, realtime int64, ok bool),
	wait func(deadline int64, extra []unix.PollFd) (Ready, int64, error),
	drops func() (uint64, error),
	limit PumpLimit,
) (PumpResult, error) {
	var result PumpResult
	for limit.more(result.Frames, result.SpanNS) {
		length, at, ok := next()
		if ok {
			if result.Frames == 0 {
				result.FirstNS = at
			}
			result.Frames++
			result.Bytes += uint64(length)
			result.LastNS, result.SpanNS = at, at-result.FirstNS
			continue
		}
		deadline := clock.Forever
		if limit.Idle > 0 {
			deadline = clock.Monotonic() + int64(limit.Idle)
		}
		ready, _, err := wait(deadline, nil)
		if err != nil {
			return result, err
		}
		if ready == 0 {
			break
		}
	}
	lost, err := drops()
	result.Drops = lost
	return result, err
}

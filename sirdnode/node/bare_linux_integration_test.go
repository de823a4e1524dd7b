package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/ring"
	"sirdbed/sirdnode/wire"
)

// The reference that a host's throughput is held against: the same sockets on
// the same veth pair, and nothing else to do.

// bareTime is how long bare sockets run, and a pair of hosts.
const bareTime = 2 * time.Second

// sendBare sends full frames as fast as the kernel takes them. Each place of the
// ring is written once: what counts is the kernel's path.
func sendBare() error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	s, err := ring.Open(ring.Config{Interface: nstest.VethA, SendBuffer: 64 << 20})
	if err != nil {
		return err
	}
	device, err := net.InterfaceByName(nstest.VethA)
	if err != nil {
		return err
	}
	f := wire.Frame{Port: 9, Payload: make([]byte, device.MTU-int(wire.IPOverhead)), Header: nil}
	frame := make([]byte, f.Len())
	frame = frame[:f.Encode(frame)]

	const (
		batch   = 64      // frames in one system call
		largest = 1 << 16 // frames; no ring has more
	)
	pause := int64(20 * time.Microsecond) // for the receiver, after back-pressure
	sent := 0
	for start := clock.Monotonic(); clock.Monotonic()-start < int64(bareTime); {
		for range batch {
			place := s.Reserve()
			if place == nil {
				break
			}
			if sent < largest {
				copy(place, frame)
			}
			s.Commit(len(frame))
			sent++
		}
		err := s.Flush()
		if err != nil && !errors.Is(err, ring.ErrBackPressure) {
			return err
		}
		if err != nil || s.Reserve() == nil {
			if err := clock.SleepUntil(clock.Monotonic() + pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// receiveBare counts frames until they stop and prints their rate, in packets a
// second between the kernel's stamps of the first and the last.
func receiveBare() error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	s, err := ring.Open(ring.Config{Interface: nstest.VethB, RxFrames: StallFrames, Protocol: etherTypeIPv4})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var frames, first, last int64
	for last-first < int64(bareTime+time.Second) {
		if _, at, ok := s.Receive(); ok {
			if s.Release(); frames == 0 {
				first = at
			}
			frames, last = frames+1, at
			continue
		}
		ready, _, err := s.Wait(clock.Monotonic()+int64(500*time.Millisecond), nil)
		if err != nil {
			return err
		}
		if ready == 0 {
			break
		}
	}
	if last == first {
		return errors.New("no frames came")
	}
	return json.NewEncoder(os.Stdout).Encode(float64(frames) / time.Duration(last-first).Seconds())
}

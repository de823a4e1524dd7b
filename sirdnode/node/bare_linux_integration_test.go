//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/ring"
	"sirdbed/sirdnode/wire"
)

// The reference that a host's throughput is held against: the same sockets on
// the same veth pair, and nothing else to do.

// bareTime is how long bare sockets run, and a pair of hosts.
const bareTime = 2 * time.Second

// nap is how long the bare receiver leaves its ring alone when that is empty, in ns. A
// receiver that waits for each frame is woken up for each, by the sender, who carries
// half as many then.
const nap = 50e3

// sendBare sends full frames as fast as the kernel takes them, many in a system call
// (sendmmsg). It carries a tenth more than a send ring, which tells when frames have left.
func sendBare() error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	device, err := net.InterfaceByName(nstest.VethA)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: device.Index}); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 8<<20); err != nil {
		return err
	}
	f := wire.Frame{Port: 9, Payload: make([]byte, device.MTU-int(wire.IPOverhead)), Header: nil}
	frame := make([]byte, f.Len())
	frame = frame[:f.Encode(frame)]
	type message struct { // struct mmsghdr
		header unix.Msghdr
		_      uint64
	}
	var batch [64]message
	part := unix.Iovec{Base: &frame[0]}
	part.SetLen(len(frame))
	for i := range batch {
		batch[i].header.Iov = &part
		batch[i].header.SetIovlen(1)
	}
	pause := int64(20 * time.Microsecond) // for the receiver, after back-pressure
	for start := clock.Monotonic(); clock.Monotonic()-start < int64(bareTime); {
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&batch[0])),
			uintptr(len(batch)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
		case unix.EAGAIN, unix.ENOBUFS:
			if err := clock.SleepUntil(clock.Monotonic() + pause); err != nil {
				return err
			}
		default:
			return errno
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
	patience := int64(500 * time.Millisecond)
	began := clock.Monotonic()
	var frames, seen, first, last int64
	for last-first < int64(bareTime+time.Second) {
		if _, at, ok := s.Receive(); ok {
			if s.Release(); frames == 0 {
				first = at
			}
			frames, last = frames+1, at
			continue
		}
		now := clock.Monotonic()
		if frames != seen {
			seen, began = frames, now
		}
		if now-began > patience {
			break
		}
		if err := clock.SleepUntil(now + nap); err != nil {
			return err
		}
	}
	if last == first {
		return errors.New("no frames came")
	}
	return json.NewEncoder(os.Stdout).Encode(float64(frames) / time.Duration(last-first).Seconds())
}

//go:build linux

package sockets

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/baselines/tcp"
)

// socketInfo is what the kernel reports about a connection. It is used again, since
// a host reads it thousands of times.
type socketInfo struct {
	tcp     unix.TCPInfo
	control [32]byte
}

// addGauges registers a host's sums over the connections that carry a message, and
// DCTCP's mean alpha.
func (d *Driver) addGauges() {
	sink := d.env.Sink
	sink.Gauge("window", d.sum(func(i *unix.TCPInfo) float64 { return float64(i.Snd_cwnd) * float64(i.Snd_mss) }))
	sink.Gauge("in_flight", d.sum(func(i *unix.TCPInfo) float64 { return float64(i.Unacked) * float64(i.Snd_mss) }))
	sink.Gauge("connections_busy", d.sum(func(*unix.TCPInfo) float64 { return 1 }))
	sink.Gauge("messages_waiting", func() (total float64) {
		for _, p := range d.peers {
			if p != nil {
				total += float64(p.pool.Waiting())
			}
		}
		return total
	})
	if d.params.CongestionControl == tcp.ECNControl {
		sink.Gauge("alpha", d.alpha)
	}
}

// eachBusy calls do for each connection that carries a message.
func (d *Driver) eachBusy(do func(c *outbound)) {
	for _, p := range d.peers {
		if p == nil {
			continue
		}
		for _, c := range p.connections {
			if c.busy && c.connected {
				do(c)
			}
		}
	}
}

func (d *Driver) sum(of func(*unix.TCPInfo) float64) func() float64 {
	return func() (total float64) {
		d.eachBusy(func(c *outbound) {
			info := &d.info.tcp
			if option(c.fd, unix.TCP_INFO, unsafe.Pointer(info), unix.SizeofTCPInfo) >= 104 {
				total += of(info)
			}
		})
		return total
	}
}

// alpha returns the mean of DCTCP's estimates (struct tcp_dctcp_info of
// include/uapi/linux/inet_diag.h: alpha in 1/1024 at offset 4).
func (d *Driver) alpha() (mean float64) {
	sum, n := 0.0, 0
	d.eachBusy(func(c *outbound) {
		b := &d.info.control
		if option(c.fd, unix.TCP_CC_INFO, unsafe.Pointer(b), len(b)) >= 8 {
			sum += float64(binary.NativeEndian.Uint32(b[4:])) / 1024
			n++
		}
	})
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// option reads an option of TCP and returns its length, 0 if there is none.
func option(fd, name int, into unsafe.Pointer, size int) int {
	length := uint32(size)
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, uintptr(name),
		uintptr(into), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return 0
	}
	return int(length)
}

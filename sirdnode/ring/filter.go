//go:build linux

package ring

import (
	"sirdbed/sirdnode/wire"

	"golang.org/x/sys/unix"
)

// accept is how much of a frame a filter lets through: all of it.
const accept = 1 << 18

// onlyPort lets through what wire.DestinationPort says is for a UDP port. Other frames
// take no place in the ring and wake nobody.
func onlyPort(port uint16) []unix.SockFilter {
	const (
		etherType   = 12
		ip          = wire.EthernetLen
		protocol    = ip + 9
		destination = ip + 20 + 2
	)
	load := func(size uint16, at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | size | unix.BPF_ABS, K: at}
	}
	var program []unix.SockFilter
	for _, test := range []struct {
		size  uint16
		at, k uint32
	}{
		{unix.BPF_H, etherType, unix.ETH_P_IP},
		{unix.BPF_B, ip, 0x45}, // without options
		{unix.BPF_B, protocol, unix.IPPROTO_UDP},
		{unix.BPF_H, destination, uint32(port)},
	} {
		program = append(program, load(test.size, test.at),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: test.k, Jt: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K})
	}
	return append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: accept})
}

// filter has a socket receive what a program lets through.
func (l link) filter(fd int, program []unix.SockFilter) error {
	list := &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, list); err != nil {
		return l.fail("attach a filter", err)
	}
	return nil
}

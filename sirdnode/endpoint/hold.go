//go:build linux

package endpoint

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// A hold keeps the kernel from answering a transport's packets: a socket is on their UDP
// port, and a filter drops whatever comes to it.
type hold struct{ fds []int }

// holdPorts holds UDP ports of an address of this machine's.
func holdPorts(at netip.Addr, ports ...uint16) (*hold, error) {
	h := &hold{}
	for _, port := range ports {
		err := h.add(at, port)
		if errors.Is(err, unix.EADDRINUSE) {
			err = fmt.Errorf("UDP port %d of %v is in use: another sirdbed node runs there", port, at)
		} else if err != nil {
			err = fmt.Errorf("hold UDP port %d of %v: %w", port, at, err)
		}
		if err != nil {
			h.close()
			return nil, err
		}
	}
	return h, nil
}

func (h *hold) add(at netip.Addr, port uint16) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	h.fds = append(h.fds, fd)
	drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}
	program := &unix.SockFprog{Len: uint16(len(drop)), Filter: &drop[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, program); err != nil {
		return err
	}
	return unix.Bind(fd, &unix.SockaddrInet4{Port: int(port), Addr: at.As4()})
}

func (h *hold) close() {
	for _, fd := range h.fds {
		unix.Close(fd)
	}
}

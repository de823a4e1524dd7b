//go:build linux

// Package burst sends known bursts of frames and watches them arrive, for tests
// of ports and fabrics. It is a raw socket of its own so that what is tested is
// not tested by itself.
package burst

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ethernetLen = 14
	ipLen       = 20
	udpLen      = 8
	// Shortest is the shortest frame: headers and the packet's number.
	Shortest = ethernetLen + ipLen + udpLen + 4
)

// A Flow is what the frames of a burst have in common.
type Flow struct {
	SrcMAC, DstMAC   [6]byte
	Src, Dst         [4]byte
	SrcPort, DstPort uint16
}

// Frame returns the frame number id of a flow, length bytes long with its
// Ethernet header and without frame check sequence.
func (f *Flow) Frame(id uint32, length int, tos byte) []byte {
	b := make([]byte, length)
	copy(b[0:], f.DstMAC[:])
	copy(b[6:], f.SrcMAC[:])
	b[12] = 0x08
	ip := b[ethernetLen:]
	ip[0], ip[1] = 0x45, tos
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	ip[6], ip[8], ip[9] = 0x40, 64, unix.IPPROTO_UDP
	copy(ip[12:], f.Src[:])
	copy(ip[16:], f.Dst[:])
	binary.BigEndian.PutUint16(ip[10:], ^headerSum(ip[:ipLen]))
	udp := ip[ipLen:]
	binary.BigEndian.PutUint16(udp[0:], f.SrcPort)
	binary.BigEndian.PutUint16(udp[2:], f.DstPort)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	binary.BigEndian.PutUint32(udp[udpLen:], id)
	return b
}

// headerSum is the one's complement sum of an IP header: 0xffff when its
// checksum is right.
func headerSum(ip []byte) uint16 {
	var sum uint32
	for i := 0; i < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	sum = sum>>16 + sum&0xffff
	return uint16(sum + sum>>16)
}

// An Arrival is an IPv4 packet that arrived.
type Arrival struct {
	At       int64 // the kernel's receive timestamp, ns since 1970
	ID       uint32
	Length   int // of the frame
	TOS      byte
	Protocol byte
	Src, Dst [4]byte
	SrcPort  uint16
	Intact   bool // the IP header's checksum is right
	Raw      []byte
}

func parse(b []byte) Arrival {
	a := Arrival{Length: len(b), Raw: append([]byte(nil), b...)}
	if len(b) < ethernetLen+ipLen {
		return a
	}
	ip := b[ethernetLen:]
	a.TOS, a.Protocol = ip[1], ip[9]
	copy(a.Src[:], ip[12:])
	copy(a.Dst[:], ip[16:])
	a.Intact = headerSum(ip[:ipLen]) == 0xffff
	if a.Protocol == unix.IPPROTO_UDP && len(b) >= Shortest {
		a.SrcPort = binary.BigEndian.Uint16(ip[ipLen:])
		a.ID = binary.BigEndian.Uint32(ip[ipLen+udpLen:])
	}
	return a
}

// A Socket sends and receives whole frames at one interface.
type Socket struct{ fd int }

// Open opens a socket in the calling thread's network namespace, bound to an
// interface and to an EtherType (host byte order).
func Open(index int, protocol uint16) (*Socket, error) {
	be := protocol<<8 | protocol>>8
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(be))
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	s := &Socket{fd}
	for _, o := range []struct{ level, name, value int }{
		{unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1},
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1},
		{unix.SOL_SOCKET, unix.SO_SNDBUF, 4 << 20},
		{unix.SOL_SOCKET, unix.SO_RCVBUF, 4 << 20},
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			s.Close()
			return nil, fmt.Errorf("set up packet socket, option %d: %w", o.name, err)
		}
	}
	// Beyond the limit only with rights in the machine's own user namespace.
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 4<<20)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 4<<20)
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: be, Ifindex: index}); err != nil {
		s.Close()
		return nil, fmt.Errorf("bind packet socket to interface %d: %w", index, err)
	}
	return s, nil
}

// Close closes the socket.
func (s *Socket) Close() error { return unix.Close(s.fd) }

// Send sends frames one after the other and returns how long that took.
func (s *Socket) Send(frames ...[]byte) (time.Duration, error) {
	began := time.Now()
	for i, frame := range frames {
		if _, err := unix.Write(s.fd, frame); err != nil && err != unix.ENOBUFS { // ENOBUFS: the port dropped it
			return time.Since(began), fmt.Errorf("send frame %d of %d: %w", i, len(frames), err)
		}
	}
	return time.Since(began), nil
}

// Collect receives until want frames are there or nothing more comes for the
// given time.
func (s *Socket) Collect(want int, silence time.Duration) ([]Arrival, error) {
	var list []Arrival
	buf, oob := make([]byte, 16<<10), make([]byte, 256)
	for len(list) < want {
		fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(silence.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return list, err
		}
		n, oobn, _, _, err := unix.Recvmsg(s.fd, buf, oob, 0)
		if err != nil {
			return list, fmt.Errorf("receive: %w", err)
		}
		a := parse(buf[:n])
		if a.At, err = timestamp(oob[:oobn]); err != nil {
			return list, err
		}
		list = append(list, a)
	}
	return list, nil
}

func timestamp(oob []byte) (int64, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, fmt.Errorf("receive timestamp: %w", err)
	}
	for _, m := range messages {
		if m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16 {
			return int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:])), nil
		}
	}
	return 0, fmt.Errorf("no receive timestamp")
}

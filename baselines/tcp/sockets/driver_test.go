//go:build linux

package sockets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/baselines/tcp"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// Messages of all sizes between all hosts, more than there are connections:
// each arrives once, in full, and is acknowledged.
func TestMessagesArriveOnceAndIntact(t *testing.T) {
	onLoopback(t, 3, func(p *tcp.Params) { p.Connections = 3 }, func(h *hosts) error {
		r := rand.New(rand.NewPCG(1, 1))
		const each = 40
		sent := make([]Bytes, 3)
		for from := range 3 {
			h.drivers[from].Connect([]transport.HostID{0, 1, 2}[:from]) // some beforehand, some when needed
		}
		for id := range transport.MessageID(each) {
			for from := range 3 {
				for to := range 3 {
					if from != to {
						size := 1 + Bytes(r.ExpFloat64()*100_000)
						sent[to] += size
						h.send(from, to, id, size)
					}
				}
			}
			if err := h.step(); err != nil {
				return err
			}
		}
		for from := range 3 {
			if err := h.until("all is acknowledged", h.settled(from, 2*each)); err != nil {
				return err
			}
		}
		for i, s := range h.told {
			got := Bytes(0)
			for _, n := range s.offset {
				got += n
			}
			if len(s.delivered) != 2*each || got != sent[i] {
				return fmt.Errorf("host %d: %d messages with %d bytes, want %d with %d", i, len(s.delivered), got,
					2*each, sent[i])
			}
		}
		return h.check()
	})
}

// With the smallest buffers, the kernel takes a message in hundreds of pieces.
func TestPartialWrites(t *testing.T) {
	small := [3]units.Bytes{4096, 4096, 4096}
	onLoopback(t, 2, func(p *tcp.Params) { p.ReceiveBuffer, p.SendBuffer = small, small }, func(h *hosts) error {
		h.send(0, 1, 0, 300_000)
		h.send(0, 1, 1, 1)
		if h.drivers[0].peer(1).connections[0].sent >= frameLen+300_000 {
			return errors.New("the kernel took all of it at once")
		}
		if err := h.until("both arrive", h.settled(0, 2)); err != nil {
			return err
		}
		return h.check()
	})
}

// A connection carries one message at a time; those that wait are sent in
// order.
func TestMessagesWaitForAConnection(t *testing.T) {
	onLoopback(t, 2, func(p *tcp.Params) { p.Connections = 1 }, func(h *hosts) error {
		for id := range transport.MessageID(5) {
			h.send(0, 1, id, 100_000)
		}
		if n := h.told[0].gauges["messages_waiting"](); n != 4 {
			return fmt.Errorf("%g messages wait", n)
		}
		if err := h.until("all arrive", h.settled(0, 5)); err != nil {
			return err
		}
		for i, m := range h.told[1].delivered {
			if m.ID != transport.MessageID(i) {
				return fmt.Errorf("message %d came at place %d", m.ID, i)
			}
		}
		if n := len(h.drivers[0].peer(1).connections); n != 1 {
			return fmt.Errorf("%d connections", n)
		}
		return h.check()
	})
}

// Connections are open before the first message, and none is opened for later ones.
func TestConnectBeforehand(t *testing.T) {
	onLoopback(t, 2, func(p *tcp.Params) { p.Connections = 4 }, func(h *hosts) error {
		h.drivers[0].Connect([]transport.HostID{1})
		connected := func() (n int) {
			for _, c := range h.drivers[0].peer(1).connections {
				if c.connected {
					n++
				}
			}
			return n
		}
		if err := h.until("4 are connected", func() bool {
			return connected() == 4 && len(h.drivers[1].inbound) == 4
		}); err != nil {
			return err
		}
		for id := range transport.MessageID(8) {
			h.send(0, 1, id, 10)
			if err := h.until("it arrives", h.settled(0, int(id)+1)); err != nil {
				return err
			}
		}
		if n := len(h.drivers[1].inbound); n != 4 {
			return fmt.Errorf("%d connections accepted", n)
		}
		return h.check()
	})
}

// In fabrics with more pairs of hosts than connections may be opened beforehand, each
// pair has one: 144 hosts that all send to all are 20,592 pairs.
func TestEachPairHasAConnectionBeforehand(t *testing.T) {
	for _, c := range []struct{ connections, hosts, peers, want int }{
		{40, 9, 8, 40}, {40, 40, 39, 12}, {40, 144, 143, 1}, {1, 144, 143, 1}, {40, 1000, 999, 1}, {40, 144, 1, 40},
	} {
		if got := preopened(c.connections, c.hosts, c.peers); got != c.want {
			t.Errorf("%d hosts, %d peers, %d connections: %d opened beforehand, want %d", c.hosts, c.peers,
				c.connections, got, c.want)
		}
	}
}

// When a host dies in the middle of a message, that one fails, with the reason.
// Later messages to it fail too, until it is up again.
func TestPeerDies(t *testing.T) {
	onLoopback(t, 2, func(p *tcp.Params) { p.Connections = 2 }, func(h *hosts) error {
		for id := range transport.MessageID(3) { // the third waits
			h.send(0, 1, id, 50<<20)
		}
		if err := h.until("something has arrived", func() bool { return len(h.told[1].offset) > 0 }); err != nil {
			return err
		}
		h.drivers[1].Abort()
		if err := h.until("all have failed", h.settled(0, 3)); err != nil {
			return err
		}
		all := strings.Join(h.told[0].failed, "; ")
		if len(h.told[0].failed) != 3 || !strings.Contains(all, "connection to h1-2: connection reset by peer") ||
			!strings.Contains(all, "connection refused") {
			return fmt.Errorf("failures: %s", all)
		}
		if h.told[0].counts["broken_connections"] != 3 || len(h.told[1].delivered) > 0 {
			return fmt.Errorf("counted %v, delivered %v", h.told[0].counts, h.told[1].delivered)
		}
		h.drivers[1].Close()
		if err := h.start(1, tcp.DefaultParams("reno")); err != nil {
			return err
		}
		h.told[0].failed = nil
		h.send(0, 1, 3, 1000)
		if err := h.until("it arrives", h.settled(0, 1)); err != nil {
			return err
		}
		return h.check()
	})
}

// What is not a frame, or does not come from a host, closes its connection with
// a note, and harms no other.
func TestGarbageIsRefused(t *testing.T) {
	onLoopback(t, 3, nil, func(h *hosts) error {
		wrongSource := frameOf(2, transport.Message{Peer: 1, Size: 5}) // on a connection of host 0
		ack := frameOf(0, transport.Message{Peer: 1, Size: 5})
		ack.kind = kindAck
		var wrong, unasked [frameLen]byte
		wrongSource.encode(&wrong)
		ack.encode(&unasked)
		for i, c := range []struct {
			from, text, want string
		}{
			{"10.250.1.1", "GET / HTTP/1.1\r\nHost: 10.250.1.2\r\n\r\n", "from h1-1: not a frame: begins with 0x4745"},
			{"10.250.1.1", string(wrong[:]), "from h1-1: not a frame of a message from host 0 to host 1"},
			{"10.250.1.1", string(unasked[:]), "from h1-1: not a frame of a message from host 0 to host 1"},
			{stranger, "", "from 10.250.1.99, which is no other host's kernel"},
		} {
			h.send(0, 1, transport.MessageID(i), 100_000)
			fd, err := connectFrom(c.from, "10.250.1.2")
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if _, err := unix.Write(fd, []byte(c.text)); err != nil {
				return err
			}
			err = h.until("it is told", func() bool { return len(h.told[1].notes) > i })
			if err != nil {
				return err
			}
			if !strings.Contains(h.told[1].notes[i], c.want) || h.told[1].counts["broken_frames"] != i+1 {
				return fmt.Errorf("said %q, counted %v; want %q", h.told[1].notes[i], h.told[1].counts, c.want)
			}
			if err := h.until("the message arrives", h.settled(0, i+1)); err != nil {
				return err
			}
		}
		return h.check()
	})
}

func connectFrom(from, to string) (int, error) {
	parse := func(s string) (a [4]byte) {
		fmt.Sscanf(s, "%d.%d.%d.%d", &a[0], &a[1], &a[2], &a[3])
		return a
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: parse(from)}); err != nil {
		return -1, err
	}
	return fd, unix.Connect(fd, &unix.SockaddrInet4{Port: Port, Addr: parse(to)})
}

// An acknowledgement that nobody waits for fails the message, since nothing
// else on such a connection can be trusted.
func TestWrongAcknowledgementIsRefused(t *testing.T) {
	onLoopback(t, 2, nil, func(h *hosts) error {
		h.drivers[1].Abort()
		l, err := listen(h.fabric.KernelAddr(1), "reno")
		if err != nil {
			return err
		}
		defer unix.Close(l)
		h.send(0, 1, 4, 1)
		accepted := -1
		err = h.until("it is connected", func() bool {
			accepted, _, err = unix.Accept(l)
			return err == nil
		})
		if err != nil {
			return err
		}
		defer unix.Close(accepted)
		f := frameOf(0, transport.Message{ID: 5, Tag: 11, Peer: 1, Size: 1})
		f.kind = kindAck
		var b [frameLen]byte
		f.encode(&b)
		if _, err := unix.Write(accepted, b[:]); err != nil {
			return err
		}
		if err := h.until("it has failed", h.settled(0, 1)); err != nil {
			return err
		}
		if len(h.told[0].failed) != 1 || !strings.Contains(h.told[0].failed[0], "not a frame that was to be expected") {
			return fmt.Errorf("%q", h.told[0].failed)
		}
		return nil
	})
}

// An error names what the kernel lacks, and what it has instead.
func TestUnknownCongestionControl(t *testing.T) {
	onLoopback(t, 2, nil, func(h *hosts) error {
		params := tcp.DefaultParams("vaporware")
		h.drivers[0].Close()
		err := h.start(0, params)
		if err == nil || !strings.Contains(err.Error(), `no congestion control "vaporware"`) ||
			!strings.Contains(err.Error(), "reno") ||
			!strings.Contains(err.Error(), "CONFIG_TCP_CONG_VAPORWARE") {
			return fmt.Errorf("error %v", err)
		}
		return nil
	})
}

// Buffers and ECN are set in the namespace, and noted.
func TestSettingsAreStated(t *testing.T) {
	onLoopback(t, 2, func(p *tcp.Params) { p.ReceiveBuffer, p.K = [3]units.Bytes{5000, 60_000, 700_000}, 30_000 },
		func(h *hosts) error {
			for name, want := range map[string]string{"tcp_rmem": "5000\t60000\t700000", "tcp_ecn": "1",
				"tcp_wmem": "4096\t16384\t4194304"} {
				if got, err := os.ReadFile("/proc/sys/net/ipv4/" + name); err != nil ||
					strings.TrimSpace(string(got)) != want {
					return fmt.Errorf("%s is %q (%v)", name, got, err)
				}
			}
			if n := h.told[0].notes; len(n) != 1 || !strings.Contains(n[0],
				"reno, tcp_rmem 5000 60000 700000, tcp_wmem 4096 16384 4194304, tcp_ecn 1") {
				return fmt.Errorf("notes %q", n)
			}
			if n := h.told[1].notes; len(n) != 0 {
				return fmt.Errorf("notes twice: %q", n)
			}
			return nil
		})
}

// Every segment that the kernel counts as sent, it counts as received.
func TestSegmentsAreCounted(t *testing.T) {
	onLoopback(t, 2, nil, func(h *hosts) error {
		h.send(0, 1, 0, 1_000_000)
		if err := h.until("it arrives", h.settled(0, 1)); err != nil {
			return err
		}
		c, err := h.drivers[0].Finish()
		if err != nil || c.Sent != c.Received || c.Sent < 16 || c.Corrupt != 0 {
			return fmt.Errorf("counts %+v, %v", c, err)
		}
		return nil
	})
}

// While a message is being sent, gauges report its connection.
func TestGauges(t *testing.T) {
	onLoopback(t, 2, nil, func(h *hosts) error {
		h.send(0, 1, 0, 20<<20)
		if err := h.until("it is under way", func() bool { return len(h.told[1].offset) > 0 }); err != nil {
			return err
		}
		g := h.told[0].gauges
		if w := g["window"](); w < 10_000 || g["connections_busy"]() != 1 {
			return fmt.Errorf("window %g of %g connections", w, g["connections_busy"]())
		}
		if err := h.until("it arrives", h.settled(0, 1)); err != nil {
			return err
		}
		if w := g["window"](); w != 0 || g["connections_busy"]() != 0 {
			return fmt.Errorf("afterwards, window %g of %g connections", w, g["connections_busy"]())
		}
		return h.check()
	})
}

// The caller's own descriptor ends a wait, and so does the deadline, but not
// early.
func TestWait(t *testing.T) {
	onLoopback(t, 2, nil, func(h *hosts) error {
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		d := New(h.drivers[0].env, tcp.DefaultParams("reno"))
		defer d.Close()
		if err := d.poller.open(pipe[0]); err != nil {
			return err
		}
		deadline := clock.Monotonic() + 20e6
		if control, now, err := d.Wait(deadline); control || err != nil || now < deadline {
			return fmt.Errorf("control %v, %d ns after the deadline, %v", control, now-deadline, err)
		}
		if _, err := unix.Write(pipe[1], []byte("x")); err != nil {
			return err
		}
		if control, _, err := d.Wait(clock.Forever); !control || err != nil {
			return fmt.Errorf("control %v, %v", control, err)
		}
		return nil
	})
}

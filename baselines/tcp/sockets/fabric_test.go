//go:build linux

package sockets

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sirdbed/baselines/tcp"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func TestMain(m *testing.M) { nstest.Main(m) }

// hosts are drivers in one namespace, whose loopback interface has the addresses
// of all of them:
//
//	10.250.1.1   10.250.1.2   ...   10.250.1.99, which is no host
//	     \____________|______________/
//	                 lo
type hosts struct {
	fabric  *topo.Fabric
	drivers []*Driver
	told    []*told
	now     Time
	control int
	idle    bool // nothing happened in the last step
}

// stranger is an address that is not a host's.
const stranger = "10.250.1.99"

// rack is a rack of hosts at 100 Gbps.
func rack(t testing.TB, hosts int) *topo.Fabric {
	t.Helper()
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps,
		HostDelay: units.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// onLoopback runs a test of drivers, inside their namespace.
func onLoopback(t *testing.T, n int, change func(*tcp.Params), work func(h *hosts) error) {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	net := nstest.Namespace(t)
	f := rack(t, n)
	handle := net.Handle(t)
	lo, err := handle.LinkByName("lo")
	if err == nil {
		err = handle.LinkSetUp(lo)
	}
	if err == nil {
		err = handle.LinkSetGSOMaxSegs(lo, 1) // as in a fabric
	}
	addresses := []string{stranger}
	for _, h := range f.Hosts {
		addresses = append(addresses, f.KernelAddr(h).String())
	}
	for _, a := range addresses {
		if parsed, e := netlink.ParseAddr(a + "/32"); e != nil || err != nil {
			err = errors.Join(err, e)
		} else {
			err = handle.AddrAdd(lo, parsed)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := net.Do(func() error {
		h := &hosts{fabric: f}
		defer h.close()
		if err := h.open(n, change); err != nil {
			return err
		}
		return work(h)
	}); err != nil {
		t.Error(err)
	}
}

func (h *hosts) open(n int, change func(*tcp.Params)) error {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	h.control = pipe[0]
	for i := range n {
		h.drivers, h.told = append(h.drivers, nil), append(h.told, &told{self: transport.HostID(i)})
		params := tcp.DefaultParams("reno") // every kernel has it
		if change != nil {
			change(params)
		}
		if err := h.start(i, params); err != nil {
			return err
		}
	}
	return nil
}

// start makes and opens the driver of a host.
func (h *hosts) start(i int, params *tcp.Params) error {
	sink := h.told[i]
	self := transport.HostID(i)
	h.drivers[i] = New(transport.DriverEnv{
		Env:     transport.Env{Self: self, Fabric: h.fabric, Sink: sink},
		Payload: func(m transport.Message, offset Bytes, n int) []byte { return text(self, m.Peer, m.ID, offset, n) },
		Note:    func(s string) { sink.notes = append(sink.notes, s) },
	}, params)
	return h.drivers[i].Open(h.control)
}

func (h *hosts) close() {
	for _, d := range h.drivers {
		if d != nil {
			d.Close()
		}
	}
}

// send offers a message from one host to another.
func (h *hosts) send(from, to int, id transport.MessageID, size Bytes) {
	h.drivers[from].Send(h.now, transport.Message{ID: id, Tag: transport.Tag(id) + 7, Peer: transport.HostID(to),
		Size: size})
}

// step lets every driver do what it can, or time pass if there was nothing to
// do.
func (h *hosts) step() error {
	h.now++
	deadline := int64(0)
	if h.idle {
		deadline = clock.Monotonic() + 100_000
	}
	h.idle = true
	for _, d := range h.drivers {
		if _, _, err := d.Wait(deadline); err != nil {
			return err
		}
		h.idle = h.idle && len(d.poller.pending) == 0
		d.Serve(h.now)
	}
	return nil
}

// until steps until a condition holds, for at most 30 s.
func (h *hosts) until(what string, so func() bool) error {
	for end := time.Now().Add(30 * time.Second); !so(); {
		if err := h.step(); err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("waited in vain until %s: %+v", what, h.told)
		}
	}
	return nil
}

// settled reports whether all messages of a host have ended.
func (h *hosts) settled(host, messages int) func() bool {
	return func() bool { return len(h.told[host].acked)+len(h.told[host].failed) >= messages }
}

// text returns a message's payload; no two are alike.
func text(src, dst transport.HostID, id transport.MessageID, offset Bytes, n int) []byte {
	const period = 65521
	at := (uint64(src)*31 + uint64(dst)*17 + uint64(id)*101 + uint64(offset)) % period
	return pattern[at : at+uint64(n)]
}

var pattern = func() []byte {
	b := make([]byte, 65521+transport.MaxPayload)
	rand.NewChaCha8([32]byte{1}).Read(b[:65521])
	copy(b[65521:], b)
	return b
}()

// told is a Sink that records and checks what it is called with.
type told struct {
	self      transport.HostID
	offset    map[transport.Message]Bytes
	delivered []transport.Message
	acked     []transport.Message
	failed    []string
	notes     []string
	wrong     []string
	counts    map[string]int
	gauges    map[string]func() float64
}

func (s *told) Data(_ Time, m transport.Message, offset Bytes, n int, data []byte) {
	if s.offset == nil {
		s.offset = map[transport.Message]Bytes{}
	}
	if s.offset[m] != offset || n != len(data) || n > transport.MaxPayload || offset+Bytes(n) > m.Size {
		s.wrong = append(s.wrong, fmt.Sprintf("%+v: %d bytes at %d, expected at %d", m, n, offset, s.offset[m]))
	}
	if !bytes.Equal(data, text(m.Peer, s.self, m.ID, offset, n)) {
		s.wrong = append(s.wrong, fmt.Sprintf("%+v: other bytes at %d", m, offset))
	}
	s.offset[m] = offset + Bytes(n)
}

func (s *told) Delivered(_ Time, m transport.Message) {
	if s.offset[m] != m.Size || m.Tag != transport.Tag(m.ID)+7 {
		s.wrong = append(s.wrong, fmt.Sprintf("%+v delivered with %d bytes", m, s.offset[m]))
	}
	s.delivered = append(s.delivered, m)
}

func (s *told) Acked(_ Time, m transport.Message) { s.acked = append(s.acked, m) }

func (s *told) Failed(_ Time, _ transport.Message, reason string) {
	s.failed = append(s.failed, reason)
}

func (s *told) Gauge(name string, read func() float64) {
	if s.gauges == nil {
		s.gauges = map[string]func() float64{}
	}
	s.gauges[name] = read
}

func (s *told) Count(c *transport.Counter, n int) {
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[c.Name] += n
}

// check returns what should not have happened: damage, duplicates, failures.
func (h *hosts) check() (err error) {
	for i, s := range h.told {
		seen := map[transport.Message]bool{}
		for _, m := range s.delivered {
			if seen[m] {
				err = errors.Join(err, fmt.Errorf("host %d: %+v was delivered twice", i, m))
			}
			seen[m] = true
		}
		for _, list := range [][]string{s.wrong, s.failed} {
			for _, what := range list {
				err = errors.Join(err, fmt.Errorf("host %d: %s", i, what))
			}
		}
	}
	return err
}

//go:build linux

package port

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/emu/internal/burst"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo/units"
)

// bench is one port under test:
//
//	a: sender > port ---- veth ---- b: receiver
type bench struct {
	t        *testing.T
	conn     *rtnl.Conn
	index    int
	sender   *burst.Socket
	receiver *burst.Socket
	flow     burst.Flow
	markers  *Markers
	took     time.Duration // to send the burst of meet
	far      *nstest.Net
}

// newBench builds a port. It skips the test where the kernel lacks what the port
// needs.
func newBench(t *testing.T, c Config) *bench {
	t.Helper()
	a, b := nstest.Namespace(t), nstest.Namespace(t)
	nstest.Veth(t, a, b, 1500)
	h := &bench{t: t, far: b, flow: burst.Flow{SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: [4]byte{10, 0, 0, 1}, Dst: [4]byte{10, 0, 0, 2}, SrcPort: 7, DstPort: 9}}
	h.must(a.Do(func() error {
		i, err := net.InterfaceByName(nstest.VethA)
		if err != nil {
			return err
		}
		h.index = i.Index
		if h.conn, err = rtnl.Open(); err != nil {
			return err
		}
		h.sender, err = burst.Open(h.index, 0)
		return err
	}))
	h.must(b.Do(func() error {
		i, err := net.InterfaceByName(nstest.VethB)
		if err != nil {
			return err
		}
		h.receiver, err = burst.Open(i.Index, unix.ETH_P_IP)
		return err
	}))
	t.Cleanup(func() { h.conn.Close(); h.sender.Close(); h.receiver.Close() })
	h.install(c)
	return h
}

func (h *bench) install(c Config) {
	h.t.Helper()
	var b rtnl.Batch
	h.must(c.Install(&b, h.index, nstest.VethA))
	if c.Mark > 0 && c.Marker == emu.EBPF {
		var err error
		h.markers, err = NewMarkers(h.index, 1)
		h.must(err)
		h.t.Cleanup(func() { h.markers.Close() })
		h.must(h.markers.Install(&b, h.index, nstest.VethA, c))
	}
	h.must(Explain(h.conn.Do(&b)))
}

func (h *bench) must(err error) {
	h.t.Helper()
	if errors.Is(err, emu.ErrNotSupported) {
		h.t.Skip(err)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// frames makes n frames with running numbers.
func (h *bench) frames(first uint32, n, length int, tos byte) (list [][]byte) {
	for i := range n {
		list = append(list, h.flow.Frame(first+uint32(i), length, tos))
	}
	return list
}

func (h *bench) stats() Stats {
	h.t.Helper()
	var s [1]Stats
	h.must(Read(h.conn, s[:], h.index, 1))
	return s[0]
}

// silence is how long a receiver waits for the next packet: far beyond any
// spacing in these tests and any stall of a machine at work.
const silence = 500 * time.Millisecond

// atOnce sends a burst that leaves less than one packet time for departures
// between its packets, so that the queue that it meets is known. A machine that
// stalls meanwhile spoils it: then a new port is tried.
func atOnce(t *testing.T, c Config, frames func(*bench) [][]byte, packetTime time.Duration) (*bench, []burst.Arrival) {
	t.Helper()
	const attempts = 10
	for i := range attempts {
		h := newBench(t, c)
		list := frames(h)
		took, err := h.sender.Send(list...)
		h.must(err)
		if took > packetTime {
			t.Logf("attempt %d: the burst took %v", i, took)
			_, _ = h.receiver.Collect(len(list), silence)
			continue
		}
		got, err := h.receiver.Collect(len(list), silence)
		h.must(err)
		return h, got
	}
	t.Skipf("this machine was too busy to send a burst within %v in %d attempts", packetTime, attempts)
	return nil, nil
}

const fullFrame = 1514 // bytes of a frame with an MTU of 1500

// wireTime is how long a frame occupies a link.
func wireTime(frame int, rate units.BitsPerSecond) time.Duration {
	return time.Duration(rate.TimeFor(max(wireMinimum, units.Bytes(frame)+wireOverhead)))
}

// checkSpacing finds a window in which more left than rate and burst allow.
func checkSpacing(got []burst.Arrival, c Config) error {
	for from := range got {
		var bytes units.Bytes
		for to := from + 1; to < len(got); to++ {
			bytes += max(wireMinimum, units.Bytes(got[to].Length)+wireOverhead)
			// A twentieth for the timestamps' own lateness.
			window := got[to].At - got[from].At
			allowed := c.Rate.BytesIn(units.Time(window))*21/20 + c.MaxBurst()
			if bytes > allowed {
				return fmt.Errorf("packets %d to %d: %d wire bytes in %v, %d allowed", from, to, bytes,
					time.Duration(window), allowed)
			}
		}
	}
	return nil
}

// checkDuration compares how long a burst took with what the link needs.
func checkDuration(got []burst.Arrival, frame int, rate units.BitsPerSecond) error {
	whole := time.Duration(got[len(got)-1].At - got[0].At)
	least := wireTime(frame, rate) * time.Duration(len(got)-1)
	if whole < least*95/100 || whole > 20*least {
		return fmt.Errorf("%d packets in %v: the link needs %v", len(got), whole, least)
	}
	return nil
}

package packets_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture"
	"sirdbed/capture/packets"
	"sirdbed/sirdnode/wire"
	"sirdbed/sirdnode/wire/layer"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Three made-up protocols, one for each way to tell of credit. Their headers are: type, flags, message id, offset,
// message length, credit.
const (
	totals uint16 = 47900 + iota
	offsets
	byPacket
)

const (
	data  = 1
	grant = 2

	csn  = 0x80
	free = 0x40
)

func init() {
	for port, credit := range map[uint16]wire.CreditKind{
		totals: wire.CreditTotals, offsets: wire.CreditOffsets, byPacket: wire.CreditPackets,
	} {
		layer.Register(wire.Protocol{
			Name: fmt.Sprintf("P%d", port), Port: port,
			HeaderLen: func(b []byte) (int, error) {
				if len(b) < 18 {
					return 0, wire.ErrTruncated
				}
				return 18, nil
			},
			Header: &wire.Header{
				Credit: credit,
				Types: []wire.Type{
					{Value: data, Name: "DATA", Len: 18, From: wire.Sender, Data: true},
					{Value: grant, Name: "GRANT", Len: 18, From: wire.Receiver, Grant: true},
				},
				Fields: []wire.Field{
					{Name: "message", At: 2, Size: 4, Role: wire.Message},
					{Name: "offset", At: 6, Size: 4, Role: wire.Offset},
					{Name: "length", At: 10, Size: 4, In: 1 << data, Role: wire.Length},
					{Name: "credit", At: 14, Size: 4, Role: wire.CreditTotal},
					{Name: "csn", At: 1, Mask: csn, Role: wire.CSN},
					{Name: "free", At: 1, Mask: free, In: 1 << data, Role: wire.Free},
				},
			},
		})
	}
}

// A rack of three hosts, and the capture of its leaf.
type rack struct {
	t    testing.TB
	f    *topo.Fabric
	w    *capture.Writer
	path string
	id   uint16
}

func newRack(t testing.TB) *rack {
	t.Helper()
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	must(t, err)
	r := &rack{t: t, f: f, path: filepath.Join(t.TempDir(), "leaf1.pcapng")}
	file, err := os.Create(r.path)
	must(t, err)
	leaf, _ := f.Node("leaf1")
	r.w, err = capture.Create(file, f, leaf)
	must(t, err)
	return r
}

type header struct {
	kind, flags            byte
	id, offset, size, cred uint32
}

// send has a packet pass the leaf at a time, which marks it or not.
func (r *rack) send(src, dst topo.HostID, at units.Time, port uint16, h header, payload int, marked bool) {
	r.t.Helper()
	b := make([]byte, 18)
	b[0], b[1] = h.kind, h.flags
	for i, n := range []uint32{h.id, h.offset, h.size, h.cred} {
		binary.BigEndian.PutUint32(b[2+4*i:], n)
	}
	r.id++
	x := wire.Frame{SrcAddr: r.f.HostAddr(src, 0), DstAddr: r.f.HostAddr(dst, 0), Port: port, ID: r.id, ECN: wire.ECT,
		Header: b, Payload: make([]byte, payload)}
	frame := make([]byte, x.Len())
	x.Encode(frame)
	r.pass(src, dst, at, frame, marked)
}

func (r *rack) pass(src, dst topo.HostID, at units.Time, frame []byte, marked bool) {
	r.t.Helper()
	must(r.t, r.w.Packet(&r.f.Ports[r.f.Uplink(src).Reverse], at, false, len(frame), frame))
	if marked {
		frame[15] |= 3
	}
	must(r.t, r.w.Packet(r.f.Downlink(dst), at+100, true, len(frame), frame))
}

func (r *rack) files() []packets.File {
	must(r.t, r.w.Close())
	return []packets.File{file(r.path)}
}

func file(path string) packets.File {
	return packets.File{Path: path, Open: func() (*os.File, error) { return os.Open(path) }}
}

func (r *rack) summary(filter packets.Filter) *packets.Summary {
	r.t.Helper()
	s, err := packets.Summarize(r.files(), filter)
	must(r.t, err)
	if len(s.Problems) > 0 {
		r.t.Errorf("problems: %q", s.Problems)
	}
	return s
}

func TestMessagesHaveWhatWasSentOfThem(t *testing.T) {
	r := newRack(t)
	r.send(0, 1, 1000, totals, header{kind: data, id: 7, size: 3000}, 1000, false)
	r.send(0, 1, 2000, totals, header{kind: data, id: 7, size: 3000, offset: 1000}, 1000, false)
	r.send(0, 1, 3000, totals, header{kind: data, id: 7, size: 3000, offset: 500}, 1000, false)
	r.send(1, 0, 4000, totals, header{kind: grant, id: 7}, 0, false)
	r.send(1, 0, 5000, totals, header{kind: data, id: 7, size: 10}, 10, false)
	s := r.summary(packets.Filter{})
	want := []packets.Message{
		{Protocol: "P47900", From: "h1-1", To: "h1-2", ID: 7, Size: 3000, First: 1000, Last: 4000, Packets: 4,
			Payload: 3000, Again: 1000},
		{Protocol: "P47900", From: "h1-2", To: "h1-1", ID: 7, Size: 10, First: 5000, Last: 5000, Packets: 1,
			Payload: 10},
	}
	if !slices.Equal(s.Messages, want) {
		t.Errorf("got %+v\nwant %+v", s.Messages, want)
	}
	if s.Frames != 10 || s.Packets != 5 || s.From != 1000 || s.To != 5100 {
		t.Errorf("%d frames of %d packets, %d to %d ns; want 10 of 5, 1000 to 5100", s.Frames, s.Packets, s.From, s.To)
	}
}

func TestCreditOfEachKind(t *testing.T) {
	for _, c := range []struct {
		port uint16
		send func(r *rack)
		want packets.Credit
	}{
		{totals, func(r *rack) {
			r.send(1, 0, 1000, totals, header{kind: grant, cred: 1500}, 0, false)
			r.send(0, 1, 2000, totals, header{kind: data, cred: 1000}, 900, false)
			r.send(1, 0, 3000, totals, header{kind: grant, cred: 1400}, 0, false) // overtaken
			r.send(1, 0, 4000, totals, header{kind: grant, cred: 4000}, 0, false)
		}, packets.Credit{Unit: "wire bytes", Granted: 4000, Spent: 1000, Outstanding: 3000, Max: 3000,
			Mean: (1500 + 500 + 500) / 3.}},
		{offsets, func(r *rack) {
			r.send(0, 1, 1000, offsets, header{kind: data, id: 1, size: 5000}, 0, false)
			r.send(1, 0, 2000, offsets, header{kind: grant, id: 1, offset: 2000}, 0, false)
			r.send(1, 0, 3000, offsets, header{kind: grant, id: 1, offset: 3000}, 0, false)
			r.send(0, 1, 4000, offsets, header{kind: data, id: 1, size: 5000}, 1000, false)
		}, packets.Credit{Unit: "payload bytes", Granted: 3000, Spent: 1000, Outstanding: 2000, Max: 3000,
			Mean: (0 + 2000 + 3000) / 3.}},
		{byPacket, func(r *rack) {
			r.send(0, 1, 1000, byPacket, header{kind: data, flags: free}, 1000, false)
			r.send(1, 0, 2000, byPacket, header{kind: grant}, 0, false)
			r.send(1, 0, 3000, byPacket, header{kind: grant}, 0, false)
			r.send(0, 1, 4000, byPacket, header{kind: data, offset: 1000}, 1000, false)
		}, packets.Credit{Unit: "packets", Granted: 2, Spent: 1, Outstanding: 1, Max: 2, Mean: (0 + 1 + 2) / 3.}},
	} {
		r := newRack(t)
		c.send(r)
		s := r.summary(packets.Filter{})
		if len(s.Credit) != 1 {
			t.Fatalf("port %d: credit of %d pairs, want 1", c.port, len(s.Credit))
		}
		got := s.Credit[0]
		over := got.Over
		got.Over = nil
		c.want.Protocol, c.want.From, c.want.To = fmt.Sprintf("P%d", c.port), "h1-2", "h1-1"
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("port %d: got %+v\nwant %+v", c.port, got, c.want)
		}
		most := slices.MaxFunc(over, func(a, b packets.Sample) int { return cmp.Compare(a.Max, b.Max) })
		if len(over) != 4 || over[0].At != 1000 || most.Max != c.want.Max {
			t.Errorf("port %d: over time %+v, want 4 spans of a microsecond, up to %d", c.port, over, c.want.Max)
		}
	}
}

// A packet is one of the sender's once, and at each port that it passes.
func TestMarksCountBySenderAndByPort(t *testing.T) {
	r := newRack(t)
	r.send(0, 2, 1000, totals, header{kind: data, flags: csn}, 1000, true)
	r.send(0, 2, 2000, totals, header{kind: data}, 1000, false)
	r.send(1, 2, 3000, totals, header{kind: data}, 1000, true)
	s := r.summary(packets.Filter{})
	senders := []packets.Sender{
		{Host: "h1-1", Packets: 2, Data: 2, CSN: 1, CE: 1}, {Host: "h1-2", Packets: 1, Data: 1, CE: 1},
	}
	if !slices.Equal(s.Senders, senders) {
		t.Errorf("senders %+v, want %+v", s.Senders, senders)
	}
	var down packets.Port
	for _, p := range s.Ports {
		if p.Port == "leaf1>h1-3" {
			down = p
		} else if p.CE+p.Marked > 0 {
			t.Errorf("%+v: want marks at leaf1>h1-3 alone", p)
		}
	}
	if down.Packets != 3 || down.CSN != 1 || down.CE != 2 || down.Marked != 2 {
		t.Errorf("got %+v, want 3 packets, 1 with csn, 2 with CE, both marked here", down)
	}
}

func TestFiltersSelectPackets(t *testing.T) {
	seven := uint32(7)
	for name, c := range map[string]struct {
		filter packets.Filter
		want   int // frames
	}{
		"all":        {packets.Filter{}, 8},
		"host":       {packets.Filter{Host: "h1-3"}, 4},
		"no host":    {packets.Filter{Host: "h9-9"}, 0},
		"port":       {packets.Filter{Port: "leaf1>h1-2"}, 2},
		"message":    {packets.Filter{Message: &seven}, 4},
		"from":       {packets.Filter{From: 2000}, 6},
		"to":         {packets.Filter{To: 2000}, 2},
		"both times": {packets.Filter{From: 2000, To: 3000}, 2},
		"together":   {packets.Filter{Host: "h1-3", Message: &seven}, 2},
	} {
		r := newRack(t)
		r.send(0, 1, 1000, totals, header{kind: data, id: 7}, 10, false)
		r.send(0, 2, 2000, totals, header{kind: data, id: 7}, 10, false)
		r.send(0, 2, 3000, totals, header{kind: data, id: 8}, 10, false)
		r.send(0, 1, 4000, totals, header{kind: data, id: 9}, 10, false)
		if s := r.summary(c.filter); s.Frames != c.want {
			t.Errorf("%s: %d frames, want %d", name, s.Frames, c.want)
		}
	}
}

// segment is a frame with a segment of TCP from a host's kernel to another's.
func (r *rack) segment(src, dst topo.HostID, seq uint32, payload int) []byte {
	b := make([]byte, 14+20+20+payload)
	b[12], b[13] = 0x08, 0x00
	ip := b[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, 6
	r.id++
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	binary.BigEndian.PutUint16(ip[4:], r.id)
	from, to := r.f.KernelAddr(src), r.f.KernelAddr(dst)
	copy(ip[12:], from[:])
	copy(ip[16:], to[:])
	tcp := ip[20:]
	binary.BigEndian.PutUint16(tcp[0:], 40000)
	binary.BigEndian.PutUint16(tcp[2:], 80)
	binary.BigEndian.PutUint32(tcp[4:], seq)
	tcp[12], tcp[13] = 5<<4, 0x10
	return b
}

// Kernel TCP is told as segments; sequence numbers wrap around.
func TestTCPIsToldAsSegments(t *testing.T) {
	r := newRack(t)
	const first = 1<<32 - 1500
	for i, seq := range []uint32{0, 1000, 2000, 1000} {
		r.pass(0, 1, units.Time(1000*(i+1)), r.segment(0, 1, first+seq, 1000), false)
	}
	s := r.summary(packets.Filter{})
	want := []packets.Connection{{From: "h1-1", To: "h1-2", FromPort: 40000, ToPort: 80, First: 1000, Last: 4000,
		Segments: 4, Payload: 4000, Again: 1000}}
	if !slices.Equal(s.Connections, want) || len(s.Messages) != 0 {
		t.Errorf("got %+v\nwant %+v", s.Connections, want)
	}
	var text string
	_, err := packets.List([]packets.File{file(r.path)}, packets.Filter{}, 1, func(l packets.Line) error {
		text = l.Protocol + " " + l.Text
		return nil
	})
	if want := fmt.Sprintf("TCP 40000>80 ACK seq=%d ack=0 payload=1000", uint32(first)); err != nil || text != want {
		t.Errorf("the first line is %q (%v), want %q", text, err, want)
	}
}

// What is cut off is told up to there; what is no capture is an error.
func TestBadCaptures(t *testing.T) {
	r := newRack(t)
	for i := range 100 {
		r.send(0, 1, units.Time(i), totals, header{kind: data, id: uint32(i)}, 10, false)
	}
	whole := r.files()
	text, err := os.ReadFile(r.path)
	must(t, err)
	cut := filepath.Join(t.TempDir(), "cut.pcapng")
	must(t, os.WriteFile(cut, text[:len(text)/2], 0o666))
	s, err := packets.Summarize([]packets.File{file(cut)}, packets.Filter{})
	must(t, err)
	if s.Packets < 20 || s.Packets > 60 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0], "cut.pcapng") {
		t.Errorf("of half a capture %d packets are told, with the problems %q", s.Packets, s.Problems)
	}
	s, err = packets.Summarize(append(whole, file(cut)), packets.Filter{})
	must(t, err)
	if s.Packets != 100 || len(s.Problems) != 1 {
		t.Errorf("together with a whole one %d packets are told, with the problems %q; want 100", s.Packets, s.Problems)
	}
	for name, content := range map[string]string{
		"empty": "", "text": "this is not a capture", "short": string(text[:10]),
	} {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, []byte(content), 0o666))
		_, err := packets.Summarize([]packets.File{file(path)}, packets.Filter{})
		if !errors.Is(err, packets.ErrNoCapture) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want that it is no capture, and which", name, err)
		}
	}
}

// However many messages there are, so many are kept, and the sums are right.
func TestMemoryDoesNotGrowWithMessages(t *testing.T) {
	r := newRack(t)
	const n = 130_000
	for i := range n {
		r.send(0, 1, units.Time(1000*i), totals, header{kind: data, id: uint32(i), size: 10}, 10, false)
	}
	s := r.summary(packets.Filter{Port: "leaf1>h1-2"})
	sum := s.Earlier.Payload
	for _, m := range s.Messages {
		sum += m.Payload
	}
	if len(s.Messages) > 100_000 || len(s.Messages)+s.Earlier.Messages != n || sum != 10*n {
		t.Errorf("%d messages are kept, %d summed up, with %d bytes; want %d with %d together", len(s.Messages),
			s.Earlier.Messages, sum, n, 10*n)
	}
}

// Whatever a file has in it, it is told or refused.
func FuzzSummarize(f *testing.F) {
	r := newRack(f)
	r.send(0, 1, 1000, totals, header{kind: data, id: 7, size: 3000, cred: 9}, 1000, true)
	r.send(1, 0, 2000, offsets, header{kind: grant, id: 7}, 0, false)
	r.pass(0, 1, 3000, r.segment(0, 1, 5, 10), false)
	must(f, r.w.Close())
	whole, err := os.ReadFile(r.path)
	must(f, err)
	f.Add(whole)
	f.Add(bytes.ReplaceAll(whole, []byte("sirdbed"), []byte("another"))) // program's
	path := filepath.Join(f.TempDir(), "fuzzed.pcapng")
	f.Fuzz(func(t *testing.T, b []byte) {
		must(t, os.WriteFile(path, b, 0o666))
		s, err := packets.Summarize([]packets.File{file(path)}, packets.Filter{From: math.MinInt64})
		if err != nil {
			if !errors.Is(err, packets.ErrNoCapture) {
				t.Errorf("%v: want that it is no capture", err)
			}
			return
		}
		if s.Packets > s.Frames || s.Frames > len(b) {
			t.Errorf("%d packets in %d frames in %d bytes", s.Packets, s.Frames, len(b))
		}
		if err := s.AddQueues(r.f, file(path), packets.Filter{From: math.MinInt64}); err != nil {
			t.Error(err)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

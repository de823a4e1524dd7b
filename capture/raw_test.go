package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/topo/units"
)

// A capture of another program has times of its own, and need not end with statistics.
func TestCapturesOfOtherProgramsAreRead(t *testing.T) {
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
	must(t, err)
	begin := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	frame := fakerun.Frame(fakerun.New(t).F, 0, 1, 1, 0, 100)
	for i := range 3 {
		must(t, w.WritePacket(gopacket.CaptureInfo{
			Timestamp: begin.Add(time.Duration(i) * time.Millisecond), CaptureLength: len(frame), Length: len(frame),
		}, frame))
	}
	must(t, w.Flush())
	r, err := NewReader(bytes.NewReader(b.Bytes()))
	must(t, err)
	if r.Ours() || r.Node() != "" {
		t.Errorf("it is ours: %v, of node %q; want another program's", r.Ours(), r.Node())
	}
	for i := range 3 {
		fr, err := r.Next()
		must(t, err)
		if fr.At != units.Time(i)*units.Millisecond || fr.Len != len(frame) || !fr.Ethernet || fr.Out {
			t.Errorf("frame %d: %+v", i, fr)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("it ends with %v, want the end", err)
	}
	r, err = NewReader(bytes.NewReader(b.Bytes()[:b.Len()-5]))
	must(t, err)
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, ErrCaptureCut) {
		t.Errorf("one that is cut off in a packet ends with %v, want that it is cut off", err)
	}
}

// A capture that was ended before it had an interface says so.
func TestACaptureOfNoInterface(t *testing.T) {
	var b bytes.Buffer
	for _, x := range []uint32{0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28} { // a section's header
		must(t, binary.Write(&b, binary.LittleEndian, x))
	}
	if _, err := NewReader(&b); err == nil || !strings.Contains(err.Error(), "no interface") {
		t.Errorf("error %v", err)
	}
}

func TestFingerprintsTellPacketsApart(t *testing.T) {
	f := fakerun.New(t).F
	known := map[uint64]bool{}
	for id := range uint16(1000) {
		frame := fakerun.Frame(f, 0, 1, id, 0, 100)
		n, ok := Fingerprint(frame)
		if !ok || known[n] {
			t.Fatalf("packet %d has the fingerprint %x (%v) of another", id, n, ok)
		}
		known[n] = true
		frame[ethernetHeader+1] |= 3 // marked on the way
		frame[ethernetHeader+8]--    // TTL
		if marked, _ := Fingerprint(frame); marked != n {
			t.Errorf("a mark changes the fingerprint of packet %d", id)
		}
	}
	if _, ok := Fingerprint(make([]byte, 60)); ok {
		t.Error("a frame that is not IPv4 has a fingerprint")
	}
}

// Whatever a file has in it, reading it ends, in frames that are no larger than it.
func FuzzReader(f *testing.F) {
	r := fakerun.New(&testing.T{})
	leaf, _ := r.F.Node("leaf1")
	file, err := os.CreateTemp(f.TempDir(), "")
	if err != nil {
		f.Fatal(err)
	}
	w, err := Create(file, r.F, leaf)
	if err != nil {
		f.Fatal(err)
	}
	data := fakerun.Frame(r.F, 0, 1, 1, 0, 100)
	for range 3 {
		if err := w.Packet(r.F.Downlink(1), 5, true, len(data), data); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(file.Name())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(binary.LittleEndian.AppendUint32(nil, typeSection))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		for range len(b) {
			fr, err := r.Next()
			if err != nil {
				return
			}
			if len(fr.Data) > len(b) {
				t.Fatalf("a frame of %d bytes in a file of %d", len(fr.Data), len(b))
			}
			Fingerprint(fr.Data)
		}
	})
}

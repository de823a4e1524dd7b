package capture

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/sirdnode/wire/layer"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func writeCapture(t *testing.T, f *topo.Fabric, n int) string {
	t.Helper()
	leaf, _ := f.Node("leaf1")
	path := filepath.Join(t.TempDir(), "leaf1.pcapng")
	file, err := os.Create(path)
	must(t, err)
	w, err := Create(file, f, leaf)
	must(t, err)
	in, out := &f.Ports[f.Uplink(0).Reverse], f.Downlink(1)
	for i := range n {
		data := fakerun.Frame(f, 0, 1, uint16(i), 0, 100)
		must(t, w.Packet(in, units.Time(1000*i+7), false, len(data), data))
		must(t, w.Packet(out, units.Time(1000*i+130), true, len(data), data[:80]))
	}
	must(t, w.Close())
	return path
}

func TestCaptureRoundTrip(t *testing.T) {
	r := fakerun.New(t)
	path := writeCapture(t, r.F, 300)
	n := 0
	for fr, err := range Frames(opened(t, path), r.F) {
		must(t, err)
		i, out := n/2, n%2 == 1
		wantAt, wantPort, kept := units.Time(1000*i+7), "leaf1>h1-1", 150
		if out {
			wantAt, wantPort, kept = units.Time(1000*i+130), "leaf1>h1-2", 80
		}
		if fr.At != wantAt || fr.Port.Name != wantPort || fr.Out != out || fr.Len != 150 || len(fr.Data) != kept {
			t.Fatalf("frame %d: %v %s out %v, %d bytes, %d kept", n, fr.At, fr.Port.Name, fr.Out, fr.Len, len(fr.Data))
		}
		h, ok := transportOf(fr)
		if !ok || h.Protocol.Name != "TEST" || len(h.Protocol.Header.Values(h.Bytes())) != 1 {
			t.Fatalf("frame %d has the transport header %v", n, h)
		}
		n++
	}
	if n != 600 {
		t.Errorf("%d frames, want 600", n)
	}
}

func TestCaptureIsReadUpToItsCut(t *testing.T) {
	r := fakerun.New(t)
	path := writeCapture(t, r.F, 20)
	whole, err := os.ReadFile(path)
	must(t, err)
	last := -1
	for n := 0; n < len(whole); n += 13 {
		must(t, os.WriteFile(path, whole[:n], 0o644))
		count := 0
		var end error
		for _, err := range Frames(opened(t, path), r.F) {
			if end = err; err == nil {
				count++
			}
		}
		if !errors.Is(end, ErrCaptureCut) || !strings.Contains(end.Error(), "leaf1.pcapng") {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(whole), end)
		}
		if count < last {
			t.Fatalf("cut to %d bytes: %d frames, fewer than before", n, count)
		}
		last = count
	}
	if last != 40 {
		t.Errorf("%d frames before the file's end, want 40", last)
	}
}

// Damage anywhere is an error or goes unnoticed; it is no panic, and it
// allocates no more than a block.
func TestDamagedCaptures(t *testing.T) {
	r := fakerun.New(t)
	path := writeCapture(t, r.F, 3)
	whole, err := os.ReadFile(path)
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		bad := append([]byte(nil), whole...)
		for range 1 + rng.IntN(3) {
			if at := rng.IntN(len(bad) - 4); rng.IntN(2) == 0 {
				bad[at] ^= byte(1 + rng.IntN(255))
			} else {
				binary.LittleEndian.PutUint32(bad[at:], rng.Uint32())
			}
		}
		for fr, err := range frames(strings.NewReader(string(bad)), r.F) {
			if err == nil {
				transportOf(fr)
			}
		}
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	r := fakerun.New(t)
	leaf, _ := r.F.Node("leaf1")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	must(t, err)
	w, err := Create(full, r.F, leaf)
	must(t, err)
	data := fakerun.Frame(r.F, 0, 1, 1, 0, 1400)
	for range 1000 {
		if err = w.Packet(r.F.Downlink(1), 1, true, len(data), data); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("writing to a full disk: %v", err)
	}
	if err := w.Close(); err == nil {
		t.Error("closing tells of no error")
	}
}

func TestForeignPortIsRefused(t *testing.T) {
	r := fakerun.New(t)
	leaf, _ := r.F.Node("leaf1")
	file, err := os.Create(filepath.Join(t.TempDir(), "x.pcapng"))
	must(t, err)
	w, err := Create(file, r.F, leaf)
	must(t, err)
	defer w.Close()
	if err := w.Packet(r.F.Downlink(3), 1, true, 60, make([]byte, 60)); err == nil ||
		!strings.Contains(err.Error(), "leaf2>h2-2") {
		t.Errorf("a frame of leaf2's port: %v", err)
	}
}

func TestWiresharkReadsCaptures(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	r := fakerun.New(t)
	path := writeCapture(t, r.F, 5)
	args := []string{"-r", path, "-T", "fields", "-o", "ip.check_checksum:TRUE"}
	for _, field := range []string{
		"frame.interface_name", "frame.time_epoch", "frame.len", "ip.src", "udp.dstport", "ip.checksum.status",
	} {
		args = append(args, "-e", field)
	}
	out, err := exec.Command(tshark, args...).CombinedOutput()
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	lines = lines[len(lines)-10:] // before them it may complain of running as root
	if len(lines) != 10 {
		t.Fatalf("tshark reads %d packets:\n%s", len(lines), out)
	}
	want := "leaf1>h1-2\t0.000001130\t150\t10.0.1.1\t47999\t1"
	if got := lines[3]; got != want && strings.ReplaceAll(got, "1970-01-01T00:00:", "") != want {
		t.Errorf("second departure reads\n%q, want\n%q", got, want)
	}
}

// opened returns a file to read.
func opened(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	return file
}

// transportOf is the frame's transport header, if it has one that is registered and
// was kept whole.
func transportOf(fr Frame) (*layer.Transport, bool) {
	for _, l := range layer.Decode(fr.Data, gopacket.DecodeOptions{Lazy: true, NoCopy: true}).Layers() {
		if t, ok := l.(*layer.Transport); ok {
			return t, true
		}
	}
	return nil, false
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

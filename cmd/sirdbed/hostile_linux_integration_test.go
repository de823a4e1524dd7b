//go:build linux && !portable

package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// hostileCommand makes the test binary a program that sends garbage from inside
// a fabric, of one kind after another.
const hostileCommand = "hostile"

func init() {
	inner[hostileCommand] = func() int {
		for _, kind := range garbage {
			if err := sendGarbage(kind); err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", kind, err)
				return exitFailed
			}
		}
		return exitFine
	}
}

// garbage are its kinds.
var garbage = [...]string{"noise", "damaged", "cut", "foreign", "nonsense"}

const garbageFrames = 400 // of each

// sendGarbage sends frames of a kind from h1-4 to h1-3, by way of the leaf.
func sendGarbage(kind string) error {
	spec := topo.Spec{Leaves: 1, HostsPerLeaf: 4, HostRate: 100 * units.Gbps, HostDelay: 2000, MTU: 9000}
	fabric, err := topo.New(spec)
	if err != nil {
		return err
	}
	uplink := fabric.Uplink(3)
	device, err := net.InterfaceByName(uplink.Iface)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	good := wire.Frame{
		SrcMAC: uplink.MAC, DstMAC: fabric.Ports[uplink.Reverse].MAC,
		SrcAddr: fabric.HostAddr(3, 0), DstAddr: fabric.HostAddr(2, 0),
		Entropy: 0xc001, Port: sird.Port, Header: make([]byte, 26),
	}
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 9014)
	for i := range garbageFrames {
		frame := spoil(kind, &good, r, buf)
		if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: device.Index}); err != nil {
			return fmt.Errorf("frame %d of %d bytes: %w", i, len(frame), err)
		}
		if i%8 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// spoil makes a frame that no host of the fabric would send.
func spoil(kind string, good *wire.Frame, r *rand.Rand, buf []byte) []byte {
	random := func(b []byte) {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	}
	good.ID = uint16(r.Uint32())
	random(good.Header)
	good.Payload = buf[wire.HeaderOffset+len(good.Header):][:r.IntN(3000)]
	random(good.Payload)
	n := good.Encode(buf)
	switch kind {
	case "noise": // nothing but the addresses of the link
		random(buf[14:n])
	case "damaged":
		fault.Flip(buf[:n], (14+20)*8+r.IntN((n-34)*8))
	case "cut": // shorter than its headers say, the IP header made to agree
		n = 34 + r.IntN(n-34)
		binary.BigEndian.PutUint16(buf[16:], uint16(n-14))
		checksumIPv4(buf[14:34])
	case "foreign": // intact, of another protocol
		binary.BigEndian.PutUint16(buf[36:], 9)
	case "nonsense": // intact, of the protocol, with a header of random bytes
	}
	return buf[:n]
}

func checksumIPv4(ip []byte) {
	ip[10], ip[11] = 0, 0
	var sum uint32
	for i := 0; i < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum+sum>>16))
}

// What a stranger sends into a fabric, noise, cut, damaged, foreign or senseless
// packets, ends no run and gets into no message. It is counted, and the verdict
// tells of it.
func TestHostilePacketsAreCountedAndHarmless(t *testing.T) {
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("nsenter is not installed")
	}
	b := build(t)
	run := b.command("run", "real.yaml", "--out", "r", "--set", "topology.hosts_per_leaf=4",
		"--set", "drain=40ms", "--set", "capture=[leaf1, h1-3]")
	var said strings.Builder
	run.Stdout, run.Stderr = &said, &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	b.running()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := b.command("exec", "h1-4", self, hostileCommand).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := code(run.Wait()); got != exitInvalid {
		t.Errorf("exit code %d, want %d\n%s", got, exitInvalid, said.String())
	}
	_, variants := b.result("r")
	v := variants[0]
	if v.Facts == nil || v.Facts.Failure != "" {
		t.Fatalf("the run failed: %+v", v.Facts)
	}
	h := v.Facts.Hosts[2]
	// What is for another port, the socket's filter keeps out.
	if h.Corrupt < garbageFrames || h.Foreign >= garbageFrames || !h.Finished {
		t.Errorf("of %d frames each, %d were corrupt and %d foreign", garbageFrames, h.Corrupt, h.Foreign)
	}
	delivered := 0
	for i := range v.Messages {
		if v.Messages[i].Delivered != units.Never && v.Messages[i].Acked != units.Never {
			delivered++
		}
	}
	if delivered != len(v.Messages) || delivered < 100 {
		t.Errorf("%d of %d messages were delivered", delivered, len(v.Messages))
	}
	reasons := strings.Join(v.Verdict.Reasons, "\n")
	if c := check(v, "corruption"); c == nil || !strings.Contains(reasons, "corruption: ") {
		t.Errorf("the verdict does not tell: %q", v.Verdict.Reasons)
	}
	if len(v.Captures) != 1 || v.Captures[0].Frames < 3*garbageFrames {
		t.Errorf("captures: %+v", v.Captures)
	}
	t.Logf("%d messages; h1-3 found %d corrupt, %d foreign of %d frames; %q",
		delivered, h.Corrupt, h.Foreign, len(garbage)*garbageFrames, v.Verdict.Reasons)
	b.gone()
}

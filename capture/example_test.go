package capture_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"sirdbed/capture"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A switch's capture has a queue in it: two packets came in at once for one
// port, which sent one after the other.
func ExampleReconstruct() {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "capture")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	leaf, _ := f.Node("leaf1")
	path := filepath.Join(dir, "leaf1.pcapng")
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	w, err := capture.Create(file, f, leaf)
	if err != nil {
		log.Fatal(err)
	}
	frames := [2][]byte{}
	for src := range frames {
		frame := wire.Frame{SrcAddr: f.HostAddr(topo.HostID(src), 0), DstAddr: f.HostAddr(2, 0), Port: 47000,
			Payload: make([]byte, 1000)}
		frames[src] = make([]byte, frame.Len())
		frame.Encode(frames[src])
		in := &f.Ports[f.Uplink(topo.HostID(src)).Reverse]
		w.Packet(in, 1000, false, len(frames[src]), frames[src])
	}
	out := f.Downlink(2)
	w.Packet(out, 1000, true, len(frames[0]), frames[0])
	w.Packet(out, 1100, true, len(frames[1]), frames[1])
	if err := w.Close(); err != nil { // the first error sticks
		log.Fatal(err)
	}

	if file, err = os.Open(path); err != nil {
		log.Fatal(err)
	}
	r, err := capture.Reconstruct(f, leaf, capture.Frames(file, f))
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range r.Ports {
		for _, d := range q.Series {
			fmt.Printf("%s at %v: %d packets, %d bytes\n", q.Port.Name, d.At, d.Packets, d.Bytes)
		}
	}
	// Output:
	// leaf1>h1-3 at 1us: 1 packets, 1046 bytes
	// leaf1>h1-3 at 1.1us: 0 packets, 0 bytes
}

// Package capture writes and reads packet captures of a fabric's nodes, and
// rebuilds the queues of a switch from what came in and what went out.
//
// Create begins a capture file, Frames reads one, and Reconstruct makes the queue
// of every port of it, packet by packet. Times are nominal, sizes are bytes. A
// file that was cut is read up to its cut.
package capture

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A capture file is pcapng. Each direction of each link of the node is an
// interface of its own, named as the port that sent the frame: in leaf1's file
// "leaf1>h1-2" has what leaf1 sent to h1-2, "h1-2>leaf1" what came from there.
// So a reader knows a frame's direction whatever its addresses say. Timestamps are
// nominal nanoseconds since the start of the run, written as if since 1970.

// writeBuffer is how many bytes a capture buffers, about a hundred full-size
// frames.
const writeBuffer = 256 << 10

// A Writer writes one node's capture file. It is for one goroutine. The first
// error sticks and is what every later call returns; what was written before
// it can be read.
type Writer struct {
	file  *os.File
	ng    *pcapgo.NgWriter
	ports []direction // by interface
	index map[direction]int
	count []uint64
	last  units.Time
	err   error
}

type direction struct {
	port topo.PortID // at the captured node
	out  bool
}

var _ emu.Capture = (*Writer)(nil)

// Create begins the capture of a node of f in a file, which is the Writer's from now
// on.
func Create(file *os.File, f *topo.Fabric, node *topo.Node) (*Writer, error) {
	w := &Writer{file: file, index: map[direction]int{}}
	for _, id := range node.Ports {
		for _, out := range []bool{true, false} {
			w.index[direction{id, out}] = len(w.ports)
			w.ports = append(w.ports, direction{id, out})
		}
	}
	w.count = make([]uint64, len(w.ports))
	// NgWriter's own buffer is one page; bufio uses a larger one it is given.
	buf := bufio.NewWriterSize(file, writeBuffer)
	for i, d := range w.ports {
		if i == 0 {
			section := pcapgo.NgSectionInfo{
				Application: application,
				Comment:     node.Name + ": nominal time in ns since the start of the run",
			}
			w.ng, w.err = pcapgo.NewNgWriterInterface(buf, describe(f, d), pcapgo.NgWriterOptions{SectionInfo: section})
		} else {
			_, w.err = w.ng.AddInterface(describe(f, d))
		}
		if w.err != nil {
			return nil, w.fail(errors.Join(w.err, file.Close()))
		}
	}
	return w, nil
}

func describe(f *topo.Fabric, d direction) pcapgo.NgInterface {
	p := &f.Ports[d.port]
	sent, verb := p, "sent to"
	if !d.out {
		sent, verb = &f.Ports[p.Reverse], "received from"
	}
	return pcapgo.NgInterface{
		Name:        sent.Name,
		Description: fmt.Sprintf("%s %s at %v", verb, f.Nodes[p.Peer].Name, sent.Rate),
		LinkType:    layers.LinkTypeEthernet,
	}
}

func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("capture %s: %w", w.file.Name(), err)
	return w.err
}

// Packet implements emu.Capture.
func (w *Writer) Packet(port *topo.Port, at units.Time, out bool, wire int, frame []byte) error {
	if w.err != nil {
		return w.err
	}
	i, ok := w.index[direction{port.ID, out}]
	if !ok {
		return fmt.Errorf("capture %s: %s is not one of the node's ports", w.file.Name(), port.Name)
	}
	err := w.ng.WritePacket(gopacket.CaptureInfo{
		Timestamp:      time.Unix(0, int64(at)),
		CaptureLength:  len(frame),
		Length:         max(wire, len(frame)),
		InterfaceIndex: i,
	}, frame)
	if err != nil {
		return w.fail(err)
	}
	w.count[i]++
	w.last = at
	return nil
}

// Close ends the file with every interface's packet count, by which a reader
// knows that the file is complete.
func (w *Writer) Close() error {
	for i, n := range w.count {
		if w.err != nil {
			break
		}
		err := w.ng.WriteInterfaceStats(i, pcapgo.NgInterfaceStatistics{
			LastUpdate: time.Unix(0, int64(w.last)), PacketsReceived: n, PacketsDropped: pcapgo.NgNoValue64,
		})
		if err != nil {
			w.fail(err)
		}
	}
	if w.err == nil {
		if err := w.ng.Flush(); err != nil {
			w.fail(err)
		}
	}
	if err := w.file.Close(); err != nil && w.err == nil {
		w.fail(err)
	}
	return w.err
}

package capture

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Frame is a captured frame.
type Frame struct {
	Port *topo.Port // of the captured node
	Out  bool       // it left through Port; if not, it came in there
	At   units.Time // nominal
	Len  int        // bytes of the whole frame, without frame check sequence
	Data []byte     // what was kept of it, valid until the next frame
}

// MaxTime is beyond all nominal times of runs, before and after 0: what a log or a
// capture says of a later one is damage. Sums of a few hundred fit into a Time.
const MaxTime = 100 * 24 * 3600 * units.Second

// Frames yields the frames of a capture file of a node of f, in the order in
// which they were written, and closes it. A last pair with an error ends it if the file could
// not be read to its end; the error wraps ErrCaptureCut if its writer did
// not close it.
func Frames(file *os.File, f *topo.Fabric) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		defer file.Close()
		for fr, err := range frames(file, f) {
			if err != nil {
				err = fmt.Errorf("%s: %w", file.Name(), err)
			}
			if !yield(fr, err) {
				return
			}
		}
	}
}

func frames(r io.Reader, f *topo.Fabric) iter.Seq2[Frame, error] {
	ports := map[string]*topo.Port{}
	for i := range f.Ports {
		ports[f.Ports[i].Name] = &f.Ports[i]
	}
	return func(yield func(Frame, error) bool) {
		raw, err := NewReader(r)
		if err != nil {
			yield(Frame{}, err)
			return
		}
		node := topo.NodeID(-1) // the captured one: the sender of interface 0
		for {
			x, err := raw.Next()
			if err == io.EOF {
				return
			}
			var sent *topo.Port
			if err == nil {
				sent, err = senderOf(x.Interface, ports)
			}
			if err == nil && node < 0 {
				var first pcapgo.NgInterface
				if first, err = raw.ng.Interface(0); err == nil {
					var own *topo.Port
					if own, err = senderOf(first.Name, ports); err == nil {
						node = own.Node
					}
				}
			}
			if err == nil && (x.At < -MaxTime || x.At > MaxTime) { // of another program's capture
				err = fmt.Errorf("capture is damaged: a frame at %v", x.At)
			}
			if err != nil {
				yield(Frame{}, err)
				return
			}
			fr := Frame{Port: sent, Out: sent.Node == node, At: x.At, Len: x.Len, Data: x.Data}
			if !fr.Out {
				fr.Port = &f.Ports[sent.Reverse]
			}
			if !yield(fr, nil) {
				return
			}
		}
	}
}

func senderOf(name string, ports map[string]*topo.Port) (*topo.Port, error) {
	p, ok := ports[name]
	if !ok {
		return nil, fmt.Errorf("interface %q is no port of the run's fabric", name)
	}
	return p, nil
}

// open and read call gopacket, whose reader panics on options that are too
// short.
func open(r io.Reader) (ng *pcapgo.NgReader, err error) {
	defer recovered(&err)
	if ng, err = pcapgo.NewNgReader(newBlocks(r), pcapgo.DefaultNgReaderOptions); err == io.EOF {
		err = errors.New("the capture is of no interface: nothing was captured")
	}
	return ng, err
}

func read(ng *pcapgo.NgReader) (data []byte, info gopacket.CaptureInfo, err error) {
	defer recovered(&err)
	return ng.ZeroCopyReadPacketData()
}

func recovered(err *error) {
	if r := recover(); r != nil {
		*err = errors.New("capture is damaged: options of the wrong length")
	}
}

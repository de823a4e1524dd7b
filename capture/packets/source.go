// Package packets tells what captures have in them: single packets, or messages,
// credit, marks and queues. What a protocol's fields mean is in its table of headers
// (wire.Header): the package knows no protocol. Its memory does not grow with the
// captures. Times are nominal ns, sizes are bytes.
package packets

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"

	"sirdbed/capture"
	"sirdbed/sirdnode/wire"
	"sirdbed/sirdnode/wire/layer"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A File is a capture to read. Open is called for each time that it is read; who reads
// closes it.
type File struct {
	Path string
	Open func() (*os.File, error)
}

// A Filter selects packets. The zero value selects all.
type Filter struct {
	Host     string // an end of the packet's way: "h1-2", or an address
	Port     string // that sent the frame: "leaf1>h1-2"
	Message  *uint32
	From, To units.Time // To: 0 for no end; the end itself is not selected
}

// A Packet is one sighting of a packet, as captured at a node.
type Packet struct {
	layer.Packet
	At       units.Time
	Node     string // the captured one, "" if that is not known
	Port     string // that sent the frame
	Out      bool   // Node sent it
	Len      int    // bytes of the frame
	From, To topo.Addr
	Type     *wire.Type // of one of ours
	Again    bool       // it was seen before, elsewhere

	ours bool
	mark bool // it is seen with CE for the first time
}

// name returns the name of an address: of sirdbed's own the host's.
func (p *Packet) name(a topo.Addr) string {
	if p.ours {
		return fmt.Sprintf("h%d-%d", a[2], a[3])
	}
	return a.String()
}

// Source and Destination name the ends of the packet's way, "" if it is not IPv4.
func (p *Packet) Source() string { return p.end(p.From) }

// Destination is Source's counterpart.
func (p *Packet) Destination() string { return p.end(p.To) }

func (p *Packet) end(a topo.Addr) string {
	if p.Kind == layer.Other {
		return ""
	}
	return p.name(a)
}

// value returns the field of one of ours that has a role.
func (p *Packet) value(role wire.Role) (uint32, bool) {
	if p.Type == nil {
		return 0, false
	}
	return p.Protocol.Header.Value(p.Type, p.Header, role)
}

// flag reports whether a flag with a role is set.
func (p *Packet) flag(role wire.Role) bool {
	n, ok := p.value(role)
	return ok && n != 0
}

// A source reads one file, one frame ahead.
type source struct {
	path   string
	file   *os.File
	reader *capture.Reader
	next   capture.RawFrame
}

// advance reads the next frame; false at the end.
func (s *source) advance() (ok bool, err error) {
	s.next, err = s.reader.Next()
	if err == nil {
		return true, nil
	}
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return false, fmt.Errorf("%s: %w", s.path, err)
}

// sources is a heap of files by the time of the next frame.
type sources []*source

func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return cmp.Compare(s[i].next.At, s[j].next.At) < 0 }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sources) Push(x any)        { *s = append(*s, x.(*source)) }
func (s *sources) Pop() any {
	list := *s
	last := list[len(list)-1]
	*s = list[:len(list)-1]
	return last
}

// ErrNoCapture is wrapped by the error of a file that is no capture that can be read at
// all.
var ErrNoCapture = errors.New("no capture to read")

// read visits the packets of some files in the order of time, as far as one file is. A
// file that ends in an error leaves the others to be read; the errors are returned
// together.
func read(files []File, filter *Filter, visit func(p *Packet) error) (cut, err error) {
	var heads sources
	defer func() {
		for _, s := range heads {
			s.file.Close()
		}
	}()
	for _, f := range files {
		file, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoCapture, err)
		}
		s := &source{path: f.Path, file: file}
		if s.reader, err = capture.NewReader(file); err != nil {
			file.Close()
			return nil, fmt.Errorf("%w: %s: %w", ErrNoCapture, f.Path, err)
		}
		ok, err := s.advance()
		cut = errors.Join(cut, err)
		if !ok {
			file.Close()
			continue
		}
		heads = append(heads, s)
	}
	heap.Init(&heads)
	known := newSeen()
	for len(heads) > 0 {
		s := heads[0]
		if p, ok := s.packet(filter); ok {
			if n, ok := capture.Fingerprint(s.next.Data); ok {
				p.Again, p.mark = known.add(n, p.ECN == wire.CE)
			} else {
				p.mark = p.ECN == wire.CE
			}
			if err := visit(&p); err != nil {
				return cut, err
			}
		}
		ok, err := s.advance()
		cut = errors.Join(cut, err)
		if ok {
			heap.Fix(&heads, 0)
		} else {
			s.file.Close()
			heap.Pop(&heads)
		}
	}
	return cut, nil
}

// packet takes the next frame apart, if it is one that the filter selects.
func (s *source) packet(f *Filter) (p Packet, ok bool) {
	x := &s.next
	if x.At < f.From || f.To != 0 && x.At >= f.To || f.Port != "" && x.Interface != f.Port {
		return p, false
	}
	p = Packet{At: x.At, Node: s.reader.Node(), Port: x.Interface, Out: x.Out, Len: x.Len, ours: s.reader.Ours()}
	p.Name = "not Ethernet"
	if x.Ethernet {
		p.Packet = layer.Read(x.Data)
	}
	p.From, p.To = p.Src, p.Dst
	if p.ours { // whatever spine an address names, and the host's kernel: one host
		p.From[1], p.To[1] = 0, 0
	}
	if p.Kind == layer.Ours {
		p.Type = p.Protocol.Header.Type(p.Header)
	}
	if f.Host != "" && p.Source() != f.Host && p.Destination() != f.Host {
		return p, false
	}
	if f.Message != nil && !p.of(*f.Message) {
		return p, false
	}
	return p, true
}

// of reports whether a packet is about a message of some id, by as much of the id as
// it has.
func (p *Packet) of(id uint32) bool {
	n, ok := p.value(wire.Message)
	if ok && p.shortID() {
		return n == id&0xffff
	}
	return ok && n == id
}

// shortID reports whether a packet has the lowest 16 bits of its message's id only.
func (p *Packet) shortID() bool {
	for i := range p.Protocol.Header.Fields {
		f := &p.Protocol.Header.Fields[i]
		if f.Role == wire.Message && f.In.Has(p.Type.Value) {
			return f.Size == 2
		}
	}
	return false
}

// A seen remembers packets by their fingerprints: the latest hundred thousands.
type seen struct{ now, before map[uint64]bool } // whether with CE

const remembered = 1 << 18

func newSeen() seen { return seen{now: map[uint64]bool{}} }

// add reports whether a packet was there before, and whether it has a mark that it had
// not.
func (s *seen) add(n uint64, marked bool) (again, mark bool) {
	was, again := s.now[n]
	if !again {
		was, again = s.before[n]
	}
	if !again || marked && !was {
		s.now[n] = was || marked
	}
	if len(s.now) >= remembered {
		s.now, s.before = make(map[uint64]bool, remembered), s.now
	}
	return again, marked && !was
}

package capture

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"sirdbed/topo/units"
)

// application is what the captures of this program say that they are from.
const application = "sirdbed"

// century is longer than captures take, and differences of two such times are times.
const century = 100 * 365 * 24 * 3600 * units.Second

// A RawFrame is a frame of any pcapng capture, whose network need not be known.
type RawFrame struct {
	Interface string     // its name; in sirdbed's captures the port that sent the frame, such as leaf1>h1-2
	Out       bool       // the captured node sent it, as far as that is known
	At        units.Time // nominal; in other programs' captures since their first frame
	Len       int        // bytes of the whole frame, without frame check sequence
	Data      []byte     // what was kept of it, valid until the next frame
	Ethernet  bool       // it begins with an Ethernet header
}

// A Reader reads the frames of a pcapng capture, of this program or another, in
// little-endian byte order. It is for one goroutine.
type Reader struct {
	ng    *pcapgo.NgReader
	start int64 // of other programs' captures: the first frame's time, ns since 1970
	begun bool
	node  string
	ours  bool
}

// NewReader begins to read a capture.
func NewReader(in io.Reader) (*Reader, error) {
	ng, err := open(in)
	if err != nil {
		return nil, err
	}
	r := &Reader{ng: ng, ours: ng.SectionInfo().Application == application}
	if first, err := ng.Interface(0); err == nil && r.ours {
		r.node, _, _ = strings.Cut(first.Name, ">")
	}
	return r, nil
}

// Ours reports whether this program wrote the capture.
func (r *Reader) Ours() bool { return r.ours }

// Node returns the name of the captured node, "" in captures of other programs.
func (r *Reader) Node() string { return r.node }

// Next returns the next frame. The error is io.EOF at the capture's end, and wraps
// ErrCaptureCut if the capture was cut off there.
func (r *Reader) Next() (RawFrame, error) {
	data, info, err := read(r.ng)
	if err != nil {
		return RawFrame{}, err
	}
	from, err := r.ng.Interface(info.InterfaceIndex)
	if err != nil {
		return RawFrame{}, err
	}
	ns := info.Timestamp.UnixNano()
	if !r.begun && !r.ours {
		r.start = ns
	}
	r.begun = true
	at, most := units.Time(ns-r.start), MaxTime
	if !r.ours {
		most = century
	}
	if at < -most || at > most || (at < 0) != (ns < r.start) {
		return RawFrame{}, fmt.Errorf("capture is damaged: a frame at %v", at)
	}
	sender, _, _ := strings.Cut(from.Name, ">")
	return RawFrame{
		Interface: from.Name, Out: r.ours && sender == r.node, At: at, Len: info.Length, Data: data,
		Ethernet: from.LinkType == layers.LinkTypeEthernet,
	}, nil
}

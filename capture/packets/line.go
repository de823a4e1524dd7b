package packets

import (
	"errors"
	"fmt"
	"strings"

	"sirdbed/sirdnode/wire"
	"sirdbed/sirdnode/wire/layer"
)

// A Line is one sighting of a packet, told.
type Line struct {
	At       int64  `json:"at_ns"`
	Node     string `json:"node,omitempty"` // where it was captured
	Port     string `json:"port"`           // that sent the frame
	Out      bool   `json:"out"`            // Node sent it, else received it
	From     string `json:"from,omitempty"`
	To       string `json:"to,omitempty"`
	Protocol string `json:"protocol"`
	Text     string `json:"text"` // type, fields and flags, as Wireshark's column Info has them
	Len      int    `json:"frame_bytes"`
	CE       bool   `json:"ce"`
}

var errLimit = errors.New("limit")

// List calls visit for the packets of captures in the order of time, up to a limit (0:
// all). A packet that was seen at several places has as many lines. The first error wraps
// ErrNoCapture if a file is no capture, or is visit's; cut says which files could not be read
// to their ends.
func List(files []File, filter Filter, limit int, visit func(Line) error) (cut, err error) {
	n := 0
	cut, err = read(files, &filter, func(p *Packet) error {
		if n++; limit > 0 && n > limit {
			return errLimit
		}
		return visit(p.line())
	})
	if err == errLimit {
		err = nil
	}
	return cut, err
}

func (p *Packet) line() Line {
	return Line{
		At: int64(p.At), Node: p.Node, Port: p.Port, Out: p.Out, From: p.Source(), To: p.Destination(),
		Protocol: p.Name, Text: p.text(), Len: p.Len, CE: p.ECN == wire.CE,
	}
}

// text tells what a packet's header says.
func (p *Packet) text() string {
	switch {
	case p.Kind == layer.TCP:
		return fmt.Sprintf("%d>%d %s seq=%d ack=%d payload=%d", p.SrcPort, p.DstPort, p.Flags, p.Seq, p.Ack, p.Payload)
	case p.Type == nil && p.DstPort != 0:
		return fmt.Sprintf("%d>%d payload=%d", p.SrcPort, p.DstPort, max(0, p.Payload-8))
	case p.Type == nil:
		return ""
	}
	words := []string{p.Type.Name}
	for _, v := range p.Protocol.Header.Values(p.Header) {
		switch {
		case v.Flag() && v.N != 0:
			words = append(words, v.Name)
		case v.Told():
			words = append(words, v.Name+"="+v.String())
		}
	}
	if p.Type.Data {
		words = append(words, fmt.Sprintf("payload=%d", p.Payload))
	}
	return strings.Join(words, " ")
}

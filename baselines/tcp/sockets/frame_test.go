//go:build linux

package sockets

import (
	"errors"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/traffic"
)

func TestFramesSurviveTheirEncoding(t *testing.T) {
	for _, m := range []transport.Message{
		{ID: 0, Tag: 0, Peer: 0, Size: 1},
		{ID: 1<<32 - 1, Tag: 1<<32 - 1, Peer: 143, Size: traffic.MaxSize},
	} {
		for _, kind := range []uint8{kindMessage, kindAck} {
			want := frameOf(7, m)
			want.kind = kind
			var b [frameLen]byte
			want.encode(&b)
			var got frame
			if err := got.decode(&b); err != nil || got != want || got.message(m.Peer) != m {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
	}
}

// Whatever single bit is wrong, the frame is refused.
func TestDamagedFramesAreRefused(t *testing.T) {
	f := frameOf(1, transport.Message{ID: 3, Tag: 9, Peer: 2, Size: 500_000})
	var b [frameLen]byte
	f.encode(&b)
	for bit := range 8 * frameLen {
		b[bit/8] ^= 1 << (bit % 8)
		var got frame
		if err := got.decode(&b); !errors.Is(err, errNotFrame) {
			t.Errorf("bit %d: %v", bit, err)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
}

// A frame whose message has no bytes, or too many, is refused even if its
// checksum is right.
func TestImpossibleFramesAreRefused(t *testing.T) {
	good := frameOf(1, transport.Message{Peer: 2, Size: 1})
	for name, spoil := range map[string]func(*frame){
		"size 0":   func(f *frame) { f.size = 0 },
		"size max": func(f *frame) { f.size = uint64(traffic.MaxSize) + 1 },
		"kind 0":   func(f *frame) { f.kind = 0 },
		"kind 3":   func(f *frame) { f.kind = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			f := good
			spoil(&f)
			var b [frameLen]byte
			f.encode(&b)
			if err := new(frame).decode(&b); !errors.Is(err, errNotFrame) {
				t.Errorf("got the error %v, want %v", err, errNotFrame)
			}
		})
	}
}

func FuzzFrame(f *testing.F) {
	var seed [frameLen]byte
	good := frameOf(1, transport.Message{ID: 3, Tag: 9, Peer: 2, Size: 500_000})
	good.encode(&seed)
	f.Add(seed[:])
	f.Fuzz(func(t *testing.T, text []byte) {
		var b, again [frameLen]byte
		copy(b[:], text)
		var got frame
		if got.decode(&b) != nil {
			return
		}
		if got.encode(&again); again != b {
			t.Errorf("%x is read as %+v, which is written as %x", b, got, again)
		}
	})
}

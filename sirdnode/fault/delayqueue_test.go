package fault

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"sirdbed/topo/units"
)

// Frames leave in the order of their due times, those due together in the
// order of Put, intact and none before its time: against sorting a plain list.
func TestFramesLeaveInOrder(t *testing.T) {
	type delayed struct {
		due units.Time
		id  uint64
	}
	r := rand.New(rand.NewPCG(1, 1))
	q := NewDelayQueue(16, 64)
	var want []delayed
	id, refused := uint64(0), uint64(0)
	for now := range units.Time(20000) {
		if r.IntN(2) == 0 {
			frame := bytes.Repeat([]byte{byte(id)}, 8+r.IntN(57))
			binary.BigEndian.PutUint64(frame, id)
			due := now + units.Time(r.IntN(50))
			if q.Put(due, frame) {
				want = append(want, delayed{due, id})
			} else {
				refused++
				if len(want) != 16 {
					t.Fatalf("refused with %d delayed", len(want))
				}
			}
			id++
		}
		slices.SortStableFunc(want, func(a, b delayed) int { return int(a.due - b.due) })
		for {
			due := q.Due()
			frame, at, ok := q.Take(now)
			if !ok {
				if len(want) > 0 && (want[0].due <= now || due != want[0].due) || len(want) == 0 && due != units.Never {
					t.Fatalf("at %v: nothing, next due %v, want %+v", now, due, want)
				}
				break
			}
			w := want[0]
			want = want[1:]
			if got := binary.BigEndian.Uint64(frame); got != w.id || at != w.due || at != due {
				t.Fatalf("frame %d due %v, want %+v", got, at, w)
			}
			for _, b := range frame[8:] {
				if b != byte(w.id) {
					t.Fatalf("frame %d has another's bytes", w.id)
				}
			}
		}
		if q.used != len(want) {
			t.Fatalf("%d delayed, want %d", q.used, len(want))
		}
	}
	if refused == 0 {
		t.Error("it was never full")
	}
}

func TestFramesThatAreTooLongAreRefused(t *testing.T) {
	q := NewDelayQueue(2, 10)
	if q.Put(1, make([]byte, 11)) || q.used != 0 {
		t.Error("took 11 bytes into 10")
	}
	if !q.Put(1, make([]byte, 10)) {
		t.Error("refused 10 bytes")
	}
}

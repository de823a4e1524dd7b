package record

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

var sample = []Record{
	{Kind: GaugeName, Peer: 3, Text: "credit_held"},
	{Kind: Offered, Peer: 7, ID: 1, Tag: 1 << 31, At: 12345, N: 10_000_000},
	{Kind: Failed, Peer: 7, ID: 1, At: 99, Text: "no answer after 5 resends"},
	{Kind: Queue, Peer: 359, ID: 12, At: 1 << 40, N: 9038 * 12},
	{Kind: End, At: 5},
}

func encode(t *testing.T, records []Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, r := range records {
		if err := w.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decode(b []byte) (list []Record, err error) {
	for r, e := range Read(bytes.NewReader(b)) {
		if e != nil {
			return list, e
		}
		list = append(list, r)
	}
	return list, nil
}

func TestRoundTrip(t *testing.T) {
	got, err := decode(encode(t, sample))
	if err != nil || !slices.Equal(got, sample) {
		t.Fatalf("%v, %v", got, err)
	}
}

// Cut anywhere, a log gives the records before the cut and says that it was
// cut.
func TestCutLogKeepsItsPrefix(t *testing.T) {
	whole := encode(t, sample)
	for n := range len(whole) {
		got, err := decode(whole[:n])
		if err == nil || len(got) > 0 && !slices.Equal(got, sample[:len(got)]) {
			t.Fatalf("cut at %d: %v, %v", n, got, err)
		}
		if n >= len(magic) && !errors.Is(err, ErrCut) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

type fullDisk struct{ room int }

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(b), nil
}

func TestFullDiskErrorSticks(t *testing.T) {
	w := NewWriter(&fullDisk{room: 2 * flushAt})
	var first error
	for range 4 * flushAt / recordSize {
		if err := w.Put(Record{Kind: Tick}); err != nil && first == nil {
			first = err
		}
	}
	if first == nil || w.Flush() != first {
		t.Fatalf("first %v, then %v", first, w.Flush())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _ := decode(b)
		if len(got)*recordSize > len(b) {
			t.Fatalf("%d records out of %d bytes", len(got), len(b))
		}
	})
}

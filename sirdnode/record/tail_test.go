package record

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
)

// A growing log is one of which more is there at each look.
type growing struct {
	log  []byte
	at   int
	upTo int
}

func (g *growing) Read(b []byte) (int, error) {
	n := copy(b, g.log[g.at:g.upTo])
	g.at += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// follow reads a log that grows by step bytes between two looks.
func follow(log []byte, step int) (list []Record, err error) {
	g := &growing{log: log}
	tail := NewTail(g)
	for g.upTo < len(log) && err == nil {
		g.upTo = min(len(log), g.upTo+step)
		_, err = tail.Next(1<<20, func(r Record) { list = append(list, r) })
	}
	return list, err
}

func TestTailReadsWhatHasCome(t *testing.T) {
	log := encode(t, sample)
	for step := 1; step <= len(log); step++ {
		if got, err := follow(log, step); err != nil || !slices.Equal(got, sample) {
			t.Fatalf("by %d bytes: got %v, %v, want %v", step, got, err, sample)
		}
	}
}

// Of a log that ends in the middle of a record the tail has those before, and no error:
// the rest may come.
func TestTailOfACutLog(t *testing.T) {
	whole := encode(t, sample)
	for n := range whole {
		want, _ := decode(whole[:n])
		if got, err := follow(whole[:n], 7); err != nil || !slices.Equal(got, want) {
			t.Fatalf("cut at %d: got %v, %v, want %v", n, got, err, want)
		}
	}
}

func TestTailReadsNoMoreThanItMay(t *testing.T) {
	log := encode(t, slices.Repeat([]Record{{Kind: Tick}}, 10*tailChunk/recordSize))
	tail, count := NewTail(bytes.NewReader(log)), 0
	n, err := tail.Next(tailChunk, func(Record) { count++ })
	if err != nil || n > 2*tailChunk || count == 0 || count > 2*tailChunk/recordSize {
		t.Errorf("read %d bytes and %d records, %v, of %d bytes", n, count, err, len(log))
	}
}

func TestTailOfWhatIsNoLog(t *testing.T) {
	damaged := encode(t, sample)
	damaged[len(magic)] = 0xff
	for name, log := range map[string][]byte{"other": []byte("a text that is longer than that"), "kind": damaged} {
		if got, err := follow(log, 5); err == nil || len(got) > 0 {
			t.Errorf("%s: got %v, %v, want an error", name, got, err)
		}
	}
}

func TestTailErrorOfTheFileSticks(t *testing.T) {
	broken := errors.New("input/output error")
	tail := NewTail(io.MultiReader(bytes.NewReader(encode(t, sample)), errReader{broken}))
	for range 3 {
		if _, err := tail.Next(1<<20, func(Record) {}); err != nil && !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
	if _, err := tail.Next(1<<20, func(Record) {}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// Read in pieces of any size, a log gives the records that Read does.
func FuzzTail(f *testing.F) {
	f.Add([]byte(magic), 1)
	f.Add(append([]byte(magic), make([]byte, 3*recordSize)...), 40)
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		want, _ := decode(b)
		got, _ := follow(b, max(1, step&0xff))
		if len(b) >= len(magic) && !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

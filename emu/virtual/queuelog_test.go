//go:build linux

package virtual

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/emu/parts"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// logOf writes a log, without an End unless there is one among the records.
func logOf(t *testing.T, records ...record.Record) *queueLog {
	t.Helper()
	var b bytes.Buffer
	w := record.NewWriter(&b)
	for _, r := range records {
		w.Put(r)
	}
	w.Flush()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l := openQueueLog(file)
	t.Cleanup(l.close)
	return l
}

// Samples of several guests are one sample of all ports, as one guest's would be.
func TestQueueLogsAreJoined(t *testing.T) {
	queue := func(port uint16, at, bytes int64) record.Record {
		return record.Record{Kind: record.Queue, Peer: port, At: units.Time(at), N: bytes, ID: 1}
	}
	sent := func(port uint16, at int64) record.Record {
		return record.Record{Kind: record.Sent, Peer: port, At: units.Time(at), N: 100}
	}
	tick := func(at, until int64) record.Record {
		return record.Record{Kind: record.Tick, At: units.Time(at), N: until}
	}
	end := func(at int64) record.Record { return record.Record{Kind: record.End, At: units.Time(at)} }
	for _, c := range []struct {
		name       string
		a, b, want []record.Record
		cut        bool
	}{
		{name: "both",
			a: []record.Record{queue(3, 0, 30), queue(9, 0, 90), tick(0, 4), sent(3, 1), tick(10, 14), end(20)},
			b: []record.Record{queue(5, 0, 50), tick(1, 3), sent(5, 1), queue(5, 10, 0), tick(10, 15), end(21)},
			want: []record.Record{queue(3, 0, 30), queue(5, 0, 50), queue(9, 0, 90), tick(0, 4), sent(3, 1), sent(5, 1),
				queue(5, 10, 0), tick(10, 15), end(21)}},
		{name: "the first has both already",
			a: []record.Record{queue(3, 0, 30), queue(5, 0, 50), tick(0, 4), sent(3, 1), sent(5, 1), end(20)},
			b: []record.Record{queue(5, 0, 50), tick(1, 3), sent(5, 1), end(20)},
			want: []record.Record{queue(3, 0, 30), queue(5, 0, 50), tick(0, 4), sent(3, 1), sent(5, 1),
				end(20)}},
		{name: "one sample more",
			a:    []record.Record{tick(0, 4), queue(3, 10, 30), tick(10, 14), end(20)},
			b:    []record.Record{tick(0, 4), end(20)},
			want: []record.Record{tick(0, 4), end(20)}},
		{name: "one was cut", cut: true,
			a:    []record.Record{tick(0, 4), tick(10, 14), end(20)},
			b:    []record.Record{tick(0, 4), queue(5, 10, 50)},
			want: []record.Record{tick(0, 4)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := joinQueues([]*queueLog{logOf(t, c.a...), logOf(t, c.b...)}, &out); err != nil {
				t.Fatal(err)
			}
			var got []record.Record
			cut := false
			for r, err := range record.Read(&out) {
				if cut = errors.Is(err, record.ErrCut); err != nil {
					break
				}
				got = append(got, r)
			}
			if !reflect.DeepEqual(got, c.want) || cut != c.cut {
				t.Errorf("got %v (cut: %v), want %v (%v)", got, cut, c.want, c.cut)
			}
		})
	}
}

// What guests have left of a run that was killed becomes one log, once.
func TestMergeQueues(t *testing.T) {
	path := t.TempDir()
	dir := rundir.Open(t, path)
	if err := MergeQueues(dir, 2); err != nil {
		t.Errorf("without logs: %v", err)
	}
	for guest := range 2 {
		err := dir.Write(parts.File(guest, emu.QueueLog), func(file *os.File) error {
			w := record.NewWriter(file)
			w.Put(record.Record{Kind: record.Queue, Peer: uint16(guest), N: 1500, ID: 1})
			w.Put(record.Record{Kind: record.Tick})
			return w.Flush()
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := MergeQueues(dir, 2); err != nil {
			t.Fatal(err)
		}
		file, err := dir.Open(emu.QueueLog)
		if err != nil {
			t.Fatal(err)
		}
		ports := 0
		for r, err := range record.Read(file) {
			if err == nil && r.Kind == record.Queue {
				ports++
			}
		}
		file.Close()
		if left, _ := os.ReadDir(path); ports != 2 || len(left) != 1 {
			t.Errorf("%d ports in %v, want 2 in one file", ports, left)
		}
	}
}

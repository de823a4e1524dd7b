package traffic

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/topo/units"
)

const listHeader = "time,src,dst,size,reply\n"

func TestParseList(t *testing.T) {
	in := "# two requests and a message\ntime,src,dst,size,reply\n" +
		"7.5us, h1-1,h1-2,10MB,8B\n\n# later\n0,h1-2,h1-1,500KB,\n1ms,h1-1,h1-2,1B,0B\n"
	got, err := ParseList("l.csv", strings.NewReader(in), 4)
	want := []ListEntry{
		{7500, "h1-1", "h1-2", 10 * units.Megabyte, 8, 3}, {0, "h1-2", "h1-1", 500 * units.Kilobyte, 4, 6},
		{ms, "h1-1", "h1-2", 1, 0, 7}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read %+v (%v), want %+v", got, err, want)
	}
	got, err = ParseList("l.csv", strings.NewReader("time,src,dst,size\n1us,a,b,1B\n"), 4)
	if err != nil || len(got) != 1 || got[0].Reply != 4 {
		t.Errorf("without the column: %+v (%v), want one message with a reply of 4", got, err)
	}
}

func TestListErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "l.csv: empty",
		listHeader:                            "l.csv: no messages",
		"src,dst\n":                           `l.csv:1: header "src,dst": want time,src,dst,size[,reply]`,
		"time,src,dst,size,answer\n":          "l.csv:1: header",
		listHeader + "1us,a,b\n":              "l.csv:2: wrong number of fields",
		listHeader + "1us,a,b,\"1\n":          "l.csv:",
		listHeader + "\n1,a,b,1B,\n":          `l.csv:3: time: time "1" has no unit`,
		listHeader + "0.5ns,a,b,1B,\n":        "l.csv:2: time: ",
		listHeader + "never,a,b,1B,\n":        "l.csv:2: time: ",
		listHeader + "999999s,a,b,1B,\n":      "l.csv:2: time is 999999s: want 0ns to 10800s",
		listHeader + "1us,a,b,10\n":           "l.csv:2: wrong number of fields",
		listHeader + "1us,a,b,10,\n":          `l.csv:2: size: size "10" has no unit`,
		listHeader + "1us,a,b,0B,\n":          "l.csv:2: size is 0B: want 1B",
		listHeader + "1us,a,b,inf,\n":         "l.csv:2: size is inf: want 1B",
		listHeader + "1us,a,b,1B,-1B\n":       `l.csv:2: reply: size "-1B" is negative`,
		listHeader + "1us,a,b,1B,inf\n":       "l.csv:2: reply is inf",
		listHeader + "1us,,b,1B,\n":           "l.csv:2: src: missing",
		listHeader + "1us,a,,1B,\n":           "l.csv:2: dst: missing",
		listHeader + "1us,a,b,1B,\n0,b,b,1B,": "l.csv:3: dst: b sends to itself",
	} {
		t.Run(in, func(t *testing.T) {
			_, err := ParseList("l.csv", strings.NewReader(in), 0)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// A list is read from beside the scenario, and each host replays its rows by
// time from the stream's start, tagged with their positions in the file.
func TestListIsReplayed(t *testing.T) {
	dir := t.TempDir()
	text := listHeader + "30us,h1-1,h1-2,300B,\n10us,h1-3,h1-2,100B,\n" +
		"20us,h1-1,h1-3,200B,64B\n20us,h1-1,h1-4,201B,\n2ms,h1-1,h1-4,1B,\n"
	if err := os.WriteFile(filepath.Join(dir, "flows.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Stream{Name: "l", Pattern: PatternList, File: "flows.csv", Start: ms, Stop: 2 * ms, Reply: 4}
	if err := s.ReadFile(dir); err != nil {
		t.Fatal(err)
	}
	want := []Arrival{
		{At: 1020 * us, Dst: 2, Size: 200, Reply: 64, Tag: 2},
		{At: 1020 * us, Dst: 3, Size: 201, Reply: 4, Tag: 3},
		{At: 1030 * us, Dst: 1, Size: 300, Reply: 4, Tag: 0},
	}
	if got := arrivals(t, fabric(t, rackSpec), 1, 0, end, s); !slices.Equal(got, want) {
		t.Errorf("h1-1 sends %+v, want %+v", got, want)
	}
}

func TestReadFileErrors(t *testing.T) {
	s := Stream{Name: "l", Pattern: PatternList}
	wantField(t, s.ReadFile(t.TempDir()), "file", "missing")
	s.File = "gone.csv"
	wantField(t, s.ReadFile(t.TempDir()), "file", "gone.csv: no such file")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.csv"), []byte(listHeader+"x,a,b,1B,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.File = "bad.csv"
	wantField(t, s.ReadFile(dir), "file", "bad.csv:2: time")
	p := Stream{Name: "p", Pattern: PatternPoisson}
	if err := p.ReadFile(dir); err != nil {
		t.Errorf("reading nothing for poisson: %v", err)
	}
}

// Whatever a list holds, it is refused or its messages are sound and survive
// being written and read again.
func FuzzParseList(f *testing.F) {
	f.Add([]byte(listHeader + "7.5us,h1-1,h1-2,10MB,8B\n"))
	f.Add([]byte("time,src,dst,size\n0,a,\"b\"\"\",1KiB\n#x\n"))
	f.Add([]byte(listHeader + "1us,a,b,1B,\n0,b,b,inf,"))
	f.Fuzz(func(t *testing.T, in []byte) {
		list, err := ParseList("l.csv", bytes.NewReader(in), 0)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "l.csv:") {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		var out bytes.Buffer
		out.WriteString(listHeader)
		for _, m := range list {
			if err := m.check(); err != nil {
				t.Errorf("%+v: %v", m, err)
			}
			quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
			fmt.Fprintf(&out, "%v,%s,%s,%v,%v\n", m.At, quote(m.Src), quote(m.Dst), m.Size, m.Reply)
		}
		again, err := ParseList("l.csv", &out, 0)
		if err != nil || len(again) != len(list) {
			t.Fatalf("%d messages, then %d, %v", len(list), len(again), err)
		}
		for i := range list {
			again[i].Line = list[i].Line
			if again[i] != list[i] {
				t.Errorf("%+v became %+v", list[i], again[i])
			}
		}
	})
}

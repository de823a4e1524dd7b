//go:build linux

package crossing

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// The shared memory has the layout that the guests' kernels know.
func TestLayoutIsTheKernels(t *testing.T) {
	text, err := os.ReadFile("../kernel/kernel.patch")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`(?m)^\+`).ReplaceAllString(string(text), "")
	_, body, found := strings.Cut(source, "\nstruct crossing_shared {\n")
	body, _, ended := strings.Cut(body, "\n};")
	if !found || !ended {
		t.Fatal("the patch has no struct crossing_shared")
	}
	want, got := []string{}, []string{}
	declaration := regexp.MustCompile(`unsigned (long long|int) (\w+)(\[CROSSING_GUESTS\])?;`)
	for _, m := range declaration.FindAllStringSubmatch(body, -1) {
		kind := map[string]string{"long long": "uint64", "int": "uint32"}[m[1]]
		if m[3] != "" {
			kind = fmt.Sprintf("[%d]%s", MaxGuests, kind)
		}
		want = append(want, m[2]+" "+kind)
	}
	layout := reflect.TypeFor[header]()
	for field := range layout.Fields() {
		got = append(got, field.Name+" "+field.Type.String())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, line := range []string{fmt.Sprintf("#define CROSSING_GUESTS %d\n", MaxGuests),
		"#define CROSSING_MAGIC 0x676e6973736f7263ULL",
		"#define CROSSING_RINGS 4096\t"} {
		if !strings.Contains(source, line) {
			t.Errorf("the patch has no %q", line)
		}
	}
	if size := unsafe.Sizeof(header{}); size > ringsAt {
		t.Errorf("the header has %d bytes, and rings are at %d", size, ringsAt)
	}
}

// Rings and records take as much as in the guests' kernels: two words with a cache line each
// before the records of a ring, and before a frame the words of its record.
func TestRingsAreTheKernels(t *testing.T) {
	text, err := os.ReadFile("../kernel/kernel.patch")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`(?m)^\+`).ReplaceAllString(string(text), "")
	body := func(name string) string {
		_, body, _ := strings.Cut(source, "\nstruct "+name+" {\n")
		body, _, _ = strings.Cut(body, "\n};")
		return body
	}
	if words := strings.Count(body("crossing_ring"), "__attribute__((aligned(64)))"); (words-1)*64 != ringHead {
		t.Errorf("a ring begins with %d words of 64 bytes and has records after %d bytes", words-1, ringHead)
	}
	if !strings.Contains(source, `panic("crossing: no room `) { // package guest looks for it
		t.Error("the kernel has another message where there is no room")
	}
	record := body("crossing_record")
	size := 8*strings.Count(record, "\tunsigned long long ") + 4*strings.Count(record, "\tunsigned int ")
	if size != recordHead {
		t.Errorf("a record has %d bytes in the kernel, and %d here", size, recordHead)
	}
}

// What is made is whole: a ring for each pair, before the first quantum.
func TestNewHasARingForEachPair(t *testing.T) {
	const room = 3 << 20
	m, err := New(3, 500*time.Microsecond, room)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.header()
	info, err := m.File().Stat()
	if err != nil {
		t.Fatal(err)
	}
	if h.guests != 3 || h.members != 3 || h.awaited != 3 || h.horizon != 500_000 || h.room < room ||
		int64(h.size) != info.Size() || info.Size() < 9*room {
		t.Errorf("got %+v in %d bytes", *h, info.Size())
	}
	if m.Quanta() != 0 || m.Waited(2) != 0 {
		t.Errorf("%d quanta, and guest 2 has waited %v, before any has begun", m.Quanta(), m.Waited(2))
	}
}

// Guests that could not share a clock are refused.
func TestNewRefusesWhatCannotShareAClock(t *testing.T) {
	for _, c := range []struct {
		guests    int
		lookahead time.Duration
	}{{1, 500}, {MaxGuests + 1, 500}, {2, 0}} {
		if m, err := New(c.guests, c.lookahead, 0); err == nil {
			m.Close()
			t.Errorf("%d guests with a lookahead of %v: want an error", c.guests, c.lookahead)
		}
	}
}

// A record is the frame and what goes with it, in words of 8 bytes.
func TestRecordBytes(t *testing.T) {
	for frame, want := range map[int64]int64{60: 48 + 64, 64: 48 + 64, 1514: 48 + 1520} {
		if got := RecordBytes(frame); got != want {
			t.Errorf("a frame of %d bytes takes %d, want %d", frame, got, want)
		}
	}
}

// A guest is held up while it waits and another one runs that has not left.
func TestHeldUp(t *testing.T) {
	m, err := New(3, time.Microsecond, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.header()
	want := func(what string, want ...bool) {
		t.Helper()
		for guest, want := range want {
			if got := m.HeldUp(guest); got != want {
				t.Errorf("%s: guest %d is held up: %v, want %v", what, guest, got, want)
			}
		}
	}
	want("all run", false, false, false)
	h.next[0] = 1000
	want("one waits", true, false, false)
	h.next[1] = 2000
	want("two wait", true, true, false)
	h.left[2] = 1
	want("the third has left", false, false, false)
	h.left[2], h.next[2] = 0, 500
	want("all wait", false, false, false)
}

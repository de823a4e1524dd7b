//go:build linux

package virtual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// fourRacks are racks of two hosts, under two spines.
func fourRacks() topo.Spec {
	return topo.Spec{Leaves: 4, HostsPerLeaf: 2, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
		HostDelay: 1250, CoreDelay: 500, MTU: 1500}
}

// runGuests runs an experiment by a number of guests, and returns the run's directory.
func runGuests(t *testing.T, guests int, x *emu.Experiment) string {
	t.Helper()
	dir := t.TempDir()
	split := *x
	split.Guests = guests
	facts, err := engine(t, nil).Run(context.Background(), &split, rundir.Open(t, dir), emu.Hooks{})
	if err != nil {
		t.Fatalf("%d guests: %v", guests, err)
	}
	if facts.SoftnetDrops+facts.LinkDrops > 0 || len(facts.Hosts) != 8 {
		t.Errorf("%d guests: facts %+v", guests, facts)
	}
	return dir
}

// files are the raw logs of a run that say what happened, by name.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(dir, "hosts", "*.rec"))
	if err != nil || len(paths) != 8 {
		t.Fatalf("logs of hosts: %v, %v", paths, err)
	}
	for _, path := range append(paths, filepath.Join(dir, emu.QueueLog)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = text
	}
	return all
}

// messageRecords are the records of messages in a host's log.
func messageRecords(t *testing.T, log []byte) (list []record.Record) {
	t.Helper()
	for r, err := range record.Read(bytes.NewReader(log)) {
		if err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case record.Offered, record.Delivered, record.Acked, record.Failed:
			list = append(list, r)
		}
	}
	return list
}

// Messages over idle links are as fast through 2 and 4 guests as in one, to a ns: within a
// rack, within a guest, and across, while links between guests become slower, longer, and
// are cut.
func TestGuestsAreAsFastAsOne(t *testing.T) {
	private(t)
	list := traffic.Stream{Name: "list", Pattern: traffic.PatternList}
	at := units.Time(0)
	for _, size := range []units.Bytes{1, 1460, 50_000} {
		for _, to := range []string{"h1-2", "h2-1", "h3-1", "h4-2"} {
			list.Messages = append(list.Messages,
				traffic.ListEntry{At: at, Src: "h1-1", Dst: to, Size: size, Reply: 500})
			at += 40 * units.Microsecond
		}
	}
	x := &emu.Experiment{Scenario: "idle", Variant: "sird", Protocol: "sird", Seed: 1, Topology: fourRacks(),
		Streams: []traffic.Stream{list}, Duration: at, Drain: 5 * units.Millisecond, QueueEvery: 5 * units.Microsecond,
		Timeline: fault.Timeline{
			{At: 100 * units.Microsecond, For: 100 * units.Microsecond, Link: "leaf1<>spine1", Do: fault.Rate,
				Rate: 10 * units.Gbps},
			{At: 200 * units.Microsecond, For: 100 * units.Microsecond, Link: "leaf1<>spine2", Do: fault.Delay,
				Delay: 3 * units.Microsecond},
			{At: 440 * units.Microsecond, For: 20 * units.Microsecond, Link: "spine2>leaf4", Do: fault.Blackhole},
		}}
	first := runGuests(t, 1, x)
	one := files(t, first)
	for _, guests := range []int{2, 4} {
		dir := runGuests(t, guests, x)
		several := files(t, dir)
		if lost := lostByLinks(t, dir); lost != lostByLinks(t, first) || lost == 0 {
			t.Errorf("%d guests: links have lost %d packets, want %d and some", guests, lost, lostByLinks(t, first))
		}
		compared := asFast(t, guests, one, several)
		if compared < 4*len(list.Messages) {
			t.Errorf("%d guests: %d records of %d messages", guests, compared, len(list.Messages))
		}
	}
}

// asFast fails unless messages are as fast by several guests as by one, to a ns, and returns
// how many records of them it has compared.
func asFast(t *testing.T, guests int, one, several map[string][]byte) (compared int) {
	t.Helper()
	for name, log := range one {
		if name == emu.QueueLog {
			continue
		}
		want, got := messageRecords(t, log), messageRecords(t, several[name])
		if len(got) != len(want) {
			t.Fatalf("%d guests: %s has %d records of messages, want %d", guests, name, len(got), len(want))
		}
		for i := range want {
			r := got[i]
			off := r.At - want[i].At
			if r.At = want[i].At; r != want[i] || off < -1 || off > 1 {
				t.Errorf("%d guests: %s has %+v, want %+v within 1ns", guests, name, got[i], want[i])
			}
			compared++
		}
	}
	return compared
}

// loaded is an experiment with a load of small messages, for a while.
func loaded(protocol string) *emu.Experiment {
	return &emu.Experiment{Scenario: "loaded", Variant: protocol, Protocol: protocol, Seed: 5, Topology: fourRacks(),
		Streams:  []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Load: 0.5, Sizes: "wka"}},
		Duration: 60 * units.Microsecond, Drain: 300 * units.Microsecond, QueueEvery: 5 * units.Microsecond}
}

// Equal numbers of guests make equal runs, under load and to the last byte of what they
// have logged, and all that was sent has arrived or is counted.
func TestEqualGuestsMakeEqualRuns(t *testing.T) {
	private(t)
	for _, protocol := range []string{"sird", "dctcp"} {
		t.Run(protocol, func(t *testing.T) {
			first := runGuests(t, 2, loaded(protocol))
			one, two := files(t, first), files(t, runGuests(t, 2, loaded(protocol)))
			for name := range one {
				if !bytes.Equal(one[name], two[name]) {
					t.Errorf("%s is another in a second run", name)
				}
			}
			conserved(t, first)
		})
	}
}

// conserved checks that the hosts' packets are all there, and that ports of both guests
// are among the facts.
func conserved(t *testing.T, dir string) {
	t.Helper()
	facts := readFacts(t, dir)
	var sent, received, drops, crossed int64
	for _, h := range facts.Hosts {
		sent, received = sent+h.Sent, received+h.Received
	}
	for _, p := range facts.Ports {
		drops += p.Drops
		if strings.HasPrefix(p.Name, "spine") {
			crossed += p.Packets
		}
	}
	if sent == 0 || sent != received+drops || crossed == 0 {
		t.Errorf("%d packets sent, %d received, %d dropped, %d by spines", sent, received, drops, crossed)
	}
	if !strings.Contains(facts.Kernel, "2 guests with one clock") {
		t.Errorf("the kernel is %q, want the number of guests in it", facts.Kernel)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.1.*")); err != nil || len(left) > 0 {
		t.Errorf("left of the parts: %v (%v)", left, err)
	}
}

// lostByLinks is how many packets a run's links have lost by its timeline of faults.
func lostByLinks(t *testing.T, dir string) (sum int64) {
	t.Helper()
	for _, p := range readFacts(t, dir).Ports {
		sum += p.Lost
	}
	return sum
}

func readFacts(t *testing.T, dir string) *emu.Facts {
	t.Helper()
	facts := &emu.Facts{}
	text, err := os.ReadFile(filepath.Join(dir, emu.FactsFile))
	if err == nil {
		err = json.Unmarshal(text, facts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// endless is an experiment over several guests that no test waits for the end of.
func endless() *emu.Experiment {
	x := loaded("sird")
	x.Duration = units.Second
	return x
}

// When one guest dies all end, with its number and its last lines, and what hosts of both
// have logged is kept.
func TestGuestsDieTogether(t *testing.T) {
	private(t)
	for guestNumber := range 2 {
		t.Run(fmt.Sprint(guestNumber), func(t *testing.T) {
			dir := t.TempDir()
			pids := make(chan int, 2)
			var kill sync.Once
			e, x := engine(t, func(pid int) { pids <- pid }), endless()
			x.Guests = 2
			facts, err := e.Run(context.Background(), x, rundir.Open(t, dir), emu.Hooks{
				Progress: func(at units.Time) {
					if at > units.Millisecond/2 {
						kill.Do(func() { syscall.Kill(numbered(t, pids, guestNumber), unix.SIGSEGV) })
					}
				}})
			var death *guest.DeathError
			want := fmt.Sprintf("guest %d of 2: the guest died: Kernel panic", guestNumber+1)
			if !errors.As(err, &death) || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %v, want %q", err, want)
			}
			if facts == nil || facts.Failure != err.Error() {
				t.Errorf("facts %+v, want the failure", facts)
			}
			for _, host := range []string{"h1-1", "h4-2"} {
				if last := lastRecord(t, filepath.Join(dir, "hosts", host+".rec")); last <= 0 {
					t.Errorf("of %s nothing is kept", host)
				}
			}
		})
	}
}

// Of a guest that runs out of memory the error says so, whoever was ended for its sake.
func TestGuestOfSeveralRunsOutOfMemory(t *testing.T) {
	private(t)
	e, x := engine(t, nil), endless()
	e.Memory, x.Guests, x.Topology.HostsPerLeaf = 96<<20, 2, 12
	facts, err := e.Run(context.Background(), x, rundir.Open(t, t.TempDir()), emu.Hooks{})
	if err == nil || !strings.Contains(err.Error(), "of 2: the guest ran out of its 96 MB of memory: shorten the run") {
		t.Fatalf("24 hosts in 96 MB: %v", err)
	}
	if facts == nil || facts.Failure != err.Error() {
		t.Errorf("facts %+v, want the failure", facts)
	}
}

// A guest that stands still holds the others up, and is named as the one that did.
func TestStoppedGuestIsNamed(t *testing.T) {
	for guestNumber := range 2 {
		t.Run(fmt.Sprint(guestNumber), func(t *testing.T) {
			private(t)
			pids := make(chan int, 2)
			var stop sync.Once
			e, x := engine(t, func(pid int) { pids <- pid }), endless()
			x.Guests, e.StallTimeout = 2, 5*time.Second
			_, err := e.Run(context.Background(), x, rundir.Open(t, t.TempDir()), emu.Hooks{
				Progress: func(at units.Time) {
					if at > units.Millisecond/2 {
						stop.Do(func() {
							if pid := numbered(t, pids, guestNumber); pid > 0 {
								syscall.Kill(pid, unix.SIGSTOP)
							}
						})
					}
				}})
			want := fmt.Sprintf("guest %d of 2: the guest showed no sign of progress for", guestNumber+1)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// numbered is the process of the guest with a number, by the kernels' command lines.
func numbered(t *testing.T, pids <-chan int, number int) int {
	for range 2 {
		pid := <-pids
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(line), fmt.Sprintf("crossing=4,%d\x00", number)) {
			return pid
		}
	}
	t.Errorf("no guest has the number %d", number)
	return 0
}

// Guests that are asked to stop do so together, and leave what they have as one result.
func TestGuestsStopTogether(t *testing.T) {
	private(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e, x := engine(t, nil), endless()
	x.Guests = 2
	facts, err := e.Run(ctx, x, rundir.Open(t, dir), emu.Hooks{
		Progress: func(at units.Time) {
			if at > 100*units.Microsecond {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that it was canceled", err)
	}
	finished := 0
	for _, h := range facts.Hosts {
		if h.Finished {
			finished++
		}
	}
	if finished != 8 {
		t.Errorf("%d hosts ended in good order, want 8: %+v", finished, facts)
	}
	conserved(t, dir)
}

//go:build linux && !portable

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/effort"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// tiesScenario has messages of a list, for any number of guests. Its queues are not
// sampled, so that nothing but the messages has times of its own.
const tiesScenario = `name: ties
topology:
  {leaves: 4, spines: 2, hosts_per_leaf: 3, host_rate: 100Gbps, core_rate: 400Gbps,
   host_delay: 1.25us, core_delay: 0.5us, mtu: 1500B}
engine: virtual
protocol: %[1]s
seed: %[2]d
traffic:
  - {name: all, pattern: list, file: messages.csv}
duration: %[3]v
drain: 20ms
sample: {queues: %[4]v, gauges: %[4]v}
`

// Under load, guests that share a clock may serve what arrives at one instant in another
// order than one guest does. That changes latencies no more than shifting messages by 0 to
// 9 ns, each by its own, does in one guest: mean, p50 and p99 differ by at most the range of
// ten such runs. (All messages shifted by the same time have the same latencies.) Half
// load. SIRDBED_TIES is for how many seeds, and for more than one protocol and
// workload, in some minutes each; without it there are five such runs of one.
func TestGuestsDifferAsShiftedMessagesDo(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	cases := []ties{{protocol: "sird", sizes: "wka", time: 150 * units.Microsecond}}
	shifts := 4
	seeds := effort.Count(t, "SIRDBED_TIES", 0)
	if seeds > 0 {
		shifts = 9
		cases = append(cases,
			ties{protocol: "homa", sizes: "wka", time: 150 * units.Microsecond},
			ties{protocol: "dcpim", sizes: "wka", time: 150 * units.Microsecond},
			ties{protocol: "sird", sizes: "wkc", time: 1500 * units.Microsecond})
	}
	for _, c := range cases {
		for seed := 1; seed <= max(seeds, 1); seed++ {
			t.Run(fmt.Sprintf("%s %s seed %d", c.protocol, c.sizes, seed), func(t *testing.T) {
				b := c
				b.t, b.path, b.dir, b.seed, b.shifts = t, path, dir, seed, shifts
				b.compare()
			})
		}
	}
}

// ties runs messages of one seed.
type ties struct {
	protocol, sizes string
	time            units.Time // for which messages come

	t         *testing.T
	path, dir string
	seed      int
	shifts    int // runs in which messages are shifted
}

// compare compares one guest, also with shifted messages, with 2 and 4.
func (b *ties) compare() {
	one := b.latencies(1, 0)
	least, most := one, one
	for shift := range b.shifts {
		l := b.latencies(1, 1+uint64(shift))
		for i := range l {
			least[i], most[i] = min(least[i], l[i]), max(most[i], l[i])
		}
	}
	for _, guests := range []int{2, 4} {
		several := b.latencies(guests, 0)
		for i, name := range []string{"mean", "p50", "p99"} {
			off, room := several[i]-one[i], most[i]-least[i]
			b.t.Logf("%d guests: %s of %.1f ns is off by %+.3f, shifted messages' range is %.3f", guests, name, one[i],
				off, room)
			if max(off, -off) > room {
				b.t.Errorf("%d guests: %s is off by more than shifts by 0 to 9 ns make", guests, name)
			}
		}
	}
}

// latencies are mean, p50 and p99 of all messages' latencies, in ns, by a number of guests
// and with messages shifted by what is drawn of a seed, 0: by nothing.
func (b *ties) latencies(guests int, shift uint64) [3]float64 {
	b.t.Helper()
	scenario := filepath.Join(b.dir, "ties.yaml")
	text := fmt.Sprintf(tiesScenario, b.protocol, b.seed, b.time+10, b.time)
	err := os.WriteFile(scenario, []byte(text), 0o666)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.dir, "messages.csv"), []byte(b.messages(shift)), 0o666)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	out := filepath.Join(b.t.TempDir(), "out")
	cmd := exec.Command(b.path, "run", scenario, "--json", "--out", out, "--guests", fmt.Sprint(guests))
	cmd.Dir, cmd.Stderr = b.dir, os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		b.t.Fatal(err)
	}
	var s results.Summary
	if err := json.Unmarshal(printed, &s); err != nil {
		b.t.Fatal(err)
	}
	run, err := emu.OpenRunDir(filepath.Join(out, results.VariantsDir, b.protocol))
	if err != nil {
		b.t.Fatal(err)
	}
	defer run.Close()
	v, err := results.Analyze(run, results.Options{Framing: framing})
	if err != nil {
		b.t.Fatal(err)
	}
	var all []float64
	sum := 0.0
	for i := range v.Messages {
		m := &v.Messages[i]
		if m.Delivered < m.Offered || m.Delivered > v.End {
			b.t.Fatalf("%d guests: a message of %v is not delivered", guests, m.Size)
		}
		all = append(all, float64(m.Delivered-m.Offered))
		sum += all[i]
	}
	slices.Sort(all)
	return [3]float64{sum / float64(len(all)), all[len(all)/2], all[len(all)*99/100]}
}

// messages is the list of a workload's messages at half load, as a file.
func (b *ties) messages(shift uint64) string {
	b.t.Helper()
	f, err := topo.New(topo.Spec{Leaves: 4, Spines: 2, HostsPerLeaf: 3, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500, MTU: 1500})
	if err != nil {
		b.t.Fatal(err)
	}
	drawn := []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: b.sizes, Load: 0.5}}
	draw := rand.New(rand.NewPCG(uint64(b.seed), shift))
	var text strings.Builder
	text.WriteString("time,src,dst,size\n")
	for _, h := range f.Hosts {
		s, err := traffic.NewSource(f, drawn, uint64(b.seed), h, b.time)
		if err != nil {
			b.t.Fatal(err)
		}
		for a, ok := s.Pop(); ok; a, ok = s.Pop() {
			if shift > 0 {
				a.At += units.Time(draw.IntN(10))
			}
			fmt.Fprintf(&text, "%dns,%s,%s,%dB\n", a.At, f.HostName(h), f.HostName(a.Dst), a.Size)
		}
	}
	return text.String()
}

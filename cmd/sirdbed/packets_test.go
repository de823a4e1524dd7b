package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/packets"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/tree"
)

// tellJSON returns the summary that packets --json prints.
func tellJSON(t *testing.T, args ...string) (s packets.Summary) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"packets", "--json"}, args...)
	if code := execute(t.Context(), args, &stdout, &stderr); code != exitFine {
		t.Fatalf("packets %v: exit code %d: %s", args, code, &stderr)
	}
	must(t, json.Unmarshal(stdout.Bytes(), &s))
	return s
}

// marking is an incast that makes switches mark and senders say csn, with losses.
const marking = `name: marking
topology: {leaves: 1, hosts_per_leaf: 4, host_rate: 100Gbps, host_delay: 1us}
protocols: [sird, homa, dcpim, xpass, swift, dctcp, aimd]
sird: {sthr: 0.2}
traffic:
  - {name: in, pattern: fixed, from: [h1-1, h1-2], to: [h1-4], size: 200KB, interval: 40us, stop: 300us}
  - {name: out, pattern: fixed, from: [h1-1], to: [h1-3], size: 200KB, interval: 40us, stop: 300us}
duration: 500us
drain: 10ms
faults: {drop: 0.005}
capture: [leaf1, h1-1]
`

// What captures say is what the run's own logs and counters say: messages, packets and marks of each port, and the
// depth of queues; credit is all spent, and losses are sent again.
func TestPacketsAgreeWithTheRun(t *testing.T) {
	dir := runModel(t, marking)
	marks, csn, credit := 0, 0, 0
	for _, name := range []string{"sird", "homa", "dcpim", "xpass", "swift", "dctcp", "aimd"} {
		t.Run(name, func(t *testing.T) {
			s := tellJSON(t, dir, "--variant", name)
			opened, err := tree.Open(filepath.Join(dir, "variants", name))
			must(t, err)
			defer opened.Close()
			var facts emu.Facts
			must(t, results.ReadJSON(opened, emu.FactsFile, &facts))

			var sent int64
			for _, h := range facts.Hosts {
				sent += h.Sent
			}
			for _, p := range facts.Ports {
				if strings.HasPrefix(p.Name, "h") {
					sent -= p.CreditDrops // never left the host
				}
			}
			ports := map[string]packets.Port{}
			for _, p := range s.Ports {
				ports[p.Port] = p
			}
			if int64(s.Packets) != sent {
				t.Errorf("%d packets, want %d", s.Packets, sent)
			}
			for _, p := range facts.Ports {
				got := ports[p.Name]
				if int64(got.Packets) != p.Packets || int64(got.Marked) != p.Marks {
					t.Errorf("%s: %d packets, %d marked here; want %d and %d", p.Name, got.Packets, got.Marked,
						p.Packets, p.Marks)
				}
			}
			again := int64(0)
			for _, m := range s.Messages {
				again += m.Again
				if m.Size != 200_000 || m.Payload < m.Size || m.Payload-m.Again != m.Size {
					t.Errorf("%+v: want 200 KB, all sent", m)
				}
			}
			if len(s.Messages) != 21 || again == 0 {
				t.Errorf("%d messages, %d bytes sent again; want 21, and some", len(s.Messages), again)
			}
			for _, q := range s.Queues {
				if !strings.HasPrefix(q.Port, "leaf1>") || q.Mean > float64(q.Max) || q.P99 > q.Max {
					t.Errorf("%+v: want a queue of leaf1's", q)
				}
			}
			for _, c := range s.Credit {
				if c.Unit != "packets" && (c.Outstanding != 0 || c.Granted == 0 || c.Max == 0) {
					t.Errorf("%+v: want credit, all of which is spent in the end", c)
				}
				credit++
			}
			for _, x := range s.Senders {
				marks, csn = marks+x.CE, csn+x.CSN
			}
		})
	}
	if marks == 0 || csn == 0 || credit < 4*3 {
		t.Errorf("%d packets with CE, %d with csn, %d pairs with credit: the test tests little", marks, csn, credit)
	}
}

// The page and the list have what a reader looks for; lists keep to their limits.
func TestPacketsForPeople(t *testing.T) {
	dir := runModel(t, marking, "--variant", "sird")
	file := filepath.Join(dir, "variants", "sird", "captures", "leaf1.pcapng")
	elsewhere := filepath.Join(t.TempDir(), "copy.pcapng")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(elsewhere, text, 0o666))
	cut := filepath.Join(t.TempDir(), "cut.pcapng")
	must(t, os.WriteFile(cut, text[:len(text)-100], 0o666))
	none, empty := filepath.Join(t.TempDir(), "none.pcapng"), t.TempDir()
	variant := filepath.Join(dir, "variants", "sird")
	for name, c := range map[string]struct {
		args  []string
		code  int
		lines int // 0: not counted
		want  []string
	}{
		"result":    {[]string{dir}, exitFine, 0, []string{"h1-2 > h1-4", "h1-4 to h1-2", "wire bytes", "p99"}},
		"variant":   {[]string{variant}, exitFine, 0, []string{"h1-1.pcapng", "leaf1.pcapng"}},
		"file":      {[]string{file}, exitFine, 0, []string{"queue", "csn", "and 1 more (--limit 21)"}},
		"elsewhere": {[]string{elsewhere}, exitFine, 0, []string{"they need the result"}},
		"list": {[]string{file, "--list", "--limit", "7"}, exitFine, 7,
			[]string{"SIRD UNSCHEDULED message=0 offset=0"}},
		"message": {[]string{file, "--list", "--message", "3", "--host", "h1-2", "--limit", "9"}, exitFine, 9,
			[]string{"message=3"}},
		"json":          {[]string{file, "--list", "--limit", "1", "--json"}, exitFine, 1, []string{`"port":"h1-`}},
		"cut":           {[]string{cut}, exitFailed, 0, []string{"h1-2 > h1-4", "cut off", "what comes before"}},
		"none":          {[]string{none}, exitBadInput, 1, []string{"none.pcapng"}},
		"yaml":          {[]string{dir + ".yaml"}, exitBadInput, 1, []string{"not a pcapng capture"}},
		"other variant": {[]string{dir, "--variant", "homa"}, exitBadInput, 1, []string{"these have some: sird"}},
		"no result":     {[]string{empty}, exitBadInput, 1, []string{"has no captures"}},
		"limit":         {[]string{file, "--limit", "-1"}, exitBadInput, 1, []string{"--limit is -1"}},
		"time":          {[]string{file, "--from", "soon"}, exitBadInput, 1, []string{"--from"}},
		"times":         {[]string{file, "--from", "2ms", "--to", "1ms"}, exitBadInput, 1, []string{"is not after"}},
	} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), append([]string{"packets"}, c.args...), &stdout, &stderr)
		out := stdout.String() + stderr.String()
		if code != c.code || c.lines != 0 && strings.Count(out, "\n") != c.lines {
			t.Errorf("%s: exit code %d, want %d, and %d lines:\n%s", name, code, c.code, c.lines, out)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: lacks %q:\n%s", name, want, out)
			}
		}
	}
}

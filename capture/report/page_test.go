package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// What a page says in words.
func TestPageReadsWell(t *testing.T) {
	v := run(t, "fast", 1)
	v.Experiment.Drain = 0
	v.Facts.Features = emu.Features{Marker: emu.RED, MarkerScope: emu.PerPort, Wires: emu.HostDelay,
		Levels: emu.PrioBands, HashSeed: emu.RandomHash, BurstTime: emu.KernelTime(100_000)}
	v.Experiment.Params = json.RawMessage(`{"sthr": "inf", "b": 1.5}`)
	v.Verdict = results.Verdict{Level: results.Degraded, Reasons: []string{"CPU steal: 5 %"},
		Checks: []results.Check{{Name: "CPU steal", Level: results.Degraded, Found: "5 %", Limit: "at most 2 %"}}}
	variants := []*results.Variant{v}
	s := results.Summarize(variants)
	s.Variants[0].Stability = nil
	text, err := RunPage(results.NewManifest(nil, variants, s), s, nil, About{}).HTML()
	must(t, err)
	for _, want := range []string{
		"<strong>DEGRADED:</strong> the machine shows", "one leaf of 3 hosts; hosts", "warm-up 1ms, measured 8ms</td>",
		"RED marks by all that waits in a port, sch_prio serves levels, receiving hosts delay, " +
			"random paths, ports make up for 100", "sird: b 1.5, sthr inf", ">queue max KB<", ">queue mean KB<",
		">level</th>", ">passes if</th>", "-: not judged", `credit_held</td><td class=" ">`, `<td class=" ">KB</td>`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text[bytes.Index(text, []byte("<body>")):])
		}
	}
	for _, bad := range []string{"1 leaves", "0ns", ">passes up to<", ">holds<", "marker_scope"} {
		if strings.Contains(string(text), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestFabricInWords(t *testing.T) {
	for want, spec := range map[string]topo.Spec{
		"one leaf of one host; hosts 100Gbps, 1us; MTU 1.5KB": {
			Leaves: 1, HostsPerLeaf: 1, HostRate: 100 * units.Gbps, HostDelay: 1000},
		"2 leaves of 4 hosts each, one spine; hosts 100Gbps, 1us; core 400Gbps, 2us; MTU 9KB": {
			Leaves: 2, HostsPerLeaf: 4, Spines: 1, HostRate: 100 * units.Gbps, HostDelay: 1000,
			CoreRate: 400 * units.Gbps, CoreDelay: 2000, MTU: 9000},
	} {
		if got := fabric(spec); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestKilobytes(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.0117: "0.00", 1.25: "0.00", 72: "0.07", 2916: "2.92",
		674400: "674.4"} {
		if got := kilobytes(x); got != want {
			t.Errorf("%v bytes print as %s, want %s", x, got, want)
		}
	}
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo"
)

// facts are what ran, on what and with what: names and values.
func facts(m *results.Manifest, s *results.Summary) [][]string {
	list := [][]string{
		{"engine", m.Engine}, {"dilation", fmt.Sprint(m.Dilation)}, {"seed", fmt.Sprint(m.Seed)},
		{"kernel", m.Kernel}, {"CPUs", fmt.Sprint(m.CPUs)}, {"sirdbed", m.Sirdbed}, {"Go", m.Go}, {"digest", m.Digest},
		{"features", strings.Join(features(m.Features), ", ")},
	}
	if len(m.Variants) > 0 {
		x := &m.Variants[0].Experiment
		times := fmt.Sprintf("warm-up %v, measured %v", x.Warmup, x.Duration)
		if x.Drain > 0 {
			times += fmt.Sprintf(", drain up to %v", x.Drain)
		}
		list = append(list, []string{"fabric", fabric(x.Topology)}, []string{"time", times})
	}
	list = append(list, []string{"faults", faultsOf(s)}, []string{"changed by --set", strings.Join(s.Set, ", ")})
	for _, v := range m.Variants {
		text := v.Protocol
		if p := params(v.Experiment.Params); p != "" {
			text += ": " + p
		}
		list = append(list, []string{"variant " + v.Variant, text})
	}
	return slices.DeleteFunc(list, func(f []string) bool { return f[1] == "" || f[1] == "0" })
}

// fabric is the fabric in words.
func fabric(t topo.Spec) string {
	text := fmt.Sprintf("%s of %s", counted(t.Leaves, "leaf", "leaves"), counted(t.HostsPerLeaf, "host", "hosts"))
	if t.Leaves > 1 {
		text += " each"
	}
	if t.Spines > 0 {
		text += ", " + counted(t.Spines, "spine", "spines")
	}
	text += fmt.Sprintf("; hosts %v, %v", t.HostRate, t.HostDelay)
	if t.Spines > 0 {
		text += fmt.Sprintf("; core %v, %v", t.CoreRate, t.CoreDelay)
	}
	mtu := t.MTU
	if mtu == 0 {
		mtu = 1500
	}
	return text + fmt.Sprintf("; MTU %v", mtu)
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// features are an engine's features in words.
func features(f emu.Features) (texts []string) {
	add := func(text string) {
		if text != "" {
			texts = append(texts, text)
		}
	}
	marks := map[emu.Marker]string{
		emu.NoMarker: "no port marks", emu.RED: "RED marks", emu.EBPF: "eBPF marks", emu.StepMarker: "the model marks",
	}[f.Marker]
	if f.Marker != emu.NoMarker && marks != "" {
		marks += map[emu.MarkerScope]string{
			emu.PerLevel: " by the queue of a packet's own level", emu.PerPort: " by all that waits in a port",
		}[f.MarkerScope]
	}
	add(marks)
	add(map[emu.Levels]string{emu.HTBClasses: "HTB serves levels", emu.PrioBands: "sch_prio serves levels"}[f.Levels])
	add(map[emu.Wires]string{emu.Netem: "netem delays on every link", emu.HostDelay: "receiving hosts delay"}[f.Wires])
	add(map[emu.Payload]string{
		emu.PayloadLengths: "packets without their bytes", emu.PayloadBytes: "packets with all their bytes",
	}[f.Payload])
	switch f.HashSeed {
	case 0:
	case emu.RandomHash:
		add("random paths")
	default:
		add(fmt.Sprintf("hash seed %v", f.HashSeed))
	}
	if f.BurstTime > 0 {
		add(fmt.Sprintf("ports make up for %v of kernel time", f.BurstTime))
	}
	if f.Burst > 0 {
		add(fmt.Sprintf("bursts of %v", f.Burst))
	}
	return texts
}

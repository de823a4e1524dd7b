package report

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

// programs lists what became of the programs that ran beside the traffic.
func programs(s *results.Summary) Table {
	t := Table{
		Title: "Programs", Left: 3,
		Header: []string{"variant", "app", "host", "started", "ready", "ended", "exit", "restarts", "output",
			"as expected"},
	}
	for _, v := range s.Variants {
		for _, a := range v.Apps {
			met := "yes"
			if !a.Met {
				met = "NO"
				t.Note += fmt.Sprintf("%s: %s. ", a.Name, a.Problem)
			}
			t.Rows = append(t.Rows, []string{v.Variant, a.Name, a.Host, since(a.Started), since(a.Ready),
				since(a.Ended), exit(&a), fmt.Sprint(a.Restarts), fmt.Sprintf("%d B", a.Bytes), met})
			if a.Cut {
				t.Note += fmt.Sprintf("%s: not all of its output was kept. ", a.Name)
			}
		}
	}
	for _, v := range s.Variants {
		if c := v.Conserved; c != nil && c.Kernel != nil && c.Kernel.Sent > 0 {
			t.Note += fmt.Sprintf("%s: hosts' kernels sent %.3g MB (IP) in %d packets of programs' own sockets; "+
				"goodput, latency and slowdown are of the transport alone. ", v.Variant,
				float64(c.Kernel.SentBytes)/float64(units.Megabyte), c.Kernel.Sent)
		}
	}
	if len(t.Rows) > 0 {
		t.Note += "Nominal times; the programs' own clock is the dilation times that. What they printed is in " +
			results.VariantsDir + "/VARIANT/" + emu.AppOutputs + "."
	}
	return t
}

// since is a nominal time, "-" if it never came.
func since(t *units.Time) string {
	if t == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g ms", float64(*t)/float64(units.Millisecond))
}

func exit(a *emu.AppFacts) string {
	if a.Exit == nil {
		return "-"
	}
	return fmt.Sprint(*a.Exit)
}

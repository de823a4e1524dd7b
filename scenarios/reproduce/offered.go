package reproduce

import (
	"sirdbed/scenarios/paper"
	"sirdbed/traffic"
)

// offeredQuantities adds what the claims state of the workloads themselves, as the
// generators draw them, on the paper's fabric.
func offeredQuantities(m *paper.Measured, workload string) {
	d, err := traffic.Workload(workload)
	if err != nil {
		return
	}
	head := "traffic/balanced/" + workload + "/"
	m.Quantities[head+"mean_size_bytes"] = paper.Value{Number: d.Mean(traffic.SamplingLog)}
	m.Quantities[head+"messages_below_bdp"] = paper.Value{Number: d.CDF(paperBDP, traffic.SamplingLog)}
	m.Quantities[head+"bytes_below_bdp"] = paper.Value{Number: d.BytesCDF(paperBDP)}
	// Receivers are drawn uniformly among the other hosts.
	across := float64(paperHosts-paperRack) / float64(paperHosts-1)
	m.Quantities[head+"messages_by_spine"] = paper.Value{Number: across}
}

package reproduce

import (
	"maps"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/scenarios/paper"
)

// Measured is what was found, as package paper compares it with the print. arrivals are
// those of the tables' points at half load.
func (f *Found) Measured(arrivals string) *paper.Measured {
	m := &paper.Measured{Cells: map[paper.Cell]paper.Value{}, Quantities: map[string]paper.Value{}}
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			for _, protocol := range f.Protocols(config) {
				for table, c := range map[string]Figure{
					paper.P99Slowdown:  f.Slowdown(config, workload, protocol, arrivals),
					paper.MaxGoodput:   f.Goodput(config, workload, protocol),
					paper.MaxTorQueue:  f.Queue(config, workload, protocol),
					paper.MeanTorQueue: f.MeanQueue(config, workload, protocol),
				} {
					if c.There {
						m.Cells[paper.Cell{Table: table, Config: config, Workload: workload, Protocol: protocol}] =
							paper.Value{Number: c.Value, Unstable: c.Unstable, Why: c.Why, Seeds: c.Seeds}
					}
				}
			}
		}
	}
	f.quantities(m)
	return m
}

// quantities adds the figures of each point, by their names, and without the load the
// highest of all loads.
func (f *Found) quantities(m *paper.Measured) {
	for i := range f.Jobs {
		j, p := &f.Jobs[i], f.Points[i]
		if p == nil || j.Arrivals != "released" || j.Experiment.Seed != 1 || !j.Full && f.hasFull(j.place()) {
			continue
		}
		switch j.Study {
		case testbedIncast:
			incastQuantities(m, j.Experiment.Variant, p)
			continue
		case testbedCubic:
			cubicQuantities(m, j.Experiment.Variant, p)
			continue
		case testbedOutcast:
			outcastQuantities(m, j.Experiment.Variant, p)
			continue
		}
		head, load, rest := j.names()
		figures := figuresOf(p)
		for _, name := range slices.Sorted(maps.Keys(figures)) {
			v := figures[name]
			if load != "" {
				put(m, head+"/load="+load+rest+"/"+name, v, false)
			}
			if load != "" && f.lacksLoad(j) {
				continue
			}
			switch name { // of which the claims have the most of all loads
			case "goodput_gbps":
				put(m, head+rest+"/"+paper.MaxGoodput, v, true)
			case paper.MaxTorQueue, paper.MeanTorQueue, "credit_at_senders_bdp", "credit_in_flight_bdp",
				"credit_at_receivers_bdp":
				put(m, head+rest+"/"+name, v, true)
			}
		}
	}
	for _, workload := range paper.Workloads {
		offeredQuantities(m, workload)
	}
	wanted := paper.Wanted()
	maps.DeleteFunc(m.Quantities, func(name string, _ paper.Value) bool { return !slices.Contains(wanted, name) })
}

// hasFull reports whether there is a point with all messages at a place.
func (f *Found) hasFull(p Place) bool {
	for i := range f.Jobs {
		if f.Points[i] != nil && f.Jobs[i].Full && f.Jobs[i].place() == p {
			return true
		}
	}
	return false
}

// lacksLoad reports whether the points of a job at other loads are missing.
func (f *Found) lacksLoad(j *Job) bool {
	p := j.place()
	for _, p.Load = range f.Loads(p.Study) {
		if len(f.At(p)) == 0 {
			return true
		}
	}
	return false
}

// put adds a quantity; of several of a name the first, or the highest.
func put(m *paper.Measured, name string, v paper.Value, highest bool) {
	if strings.Count(name, "/") == 3 && cellOf(m, name) {
		return
	}
	old, there := m.Quantities[name]
	if !there || highest && !old.Unstable && (v.Unstable || v.Number > old.Number) {
		m.Quantities[name] = v
	}
}

// cellOf reports whether a name is that of a cell.
func cellOf(m *paper.Measured, name string) bool {
	for c := range m.Cells {
		if c.String() == name {
			return true
		}
	}
	return false
}

// names are the parts of the names of a point's quantities: protocol, configuration and
// workload, the load, and the settings that are not the paper's own.
func (j *Job) names() (head, load, rest string) {
	config, workload := j.Study, j.Label("workload")
	switch j.Study {
	case "balanced", "core", "incast":
	case "unscheduled-incast":
		config = "incast"
	default:
		config = "balanced"
	}
	load = j.Label("load")
	for _, s := range j.Experiment.Streams {
		if s.Name != "all" {
			continue
		}
		if workload == "" {
			workload = s.Sizes
		}
	}
	if load == "" {
		load = map[string]string{"frontier": "0.95", "unscheduled-incast": "0.5"}[j.Study]
	}
	settings := map[string]string{"b": j.Label("b"), "sthr": j.Label("sthr"), "unscht": j.Label("unscht"),
		"prio": j.Label("priorities")}
	variant := j.Label("variant")
	if b, ok := strings.CutPrefix(variant, "sird-b"); ok {
		settings["b"] = b
	}
	if k, ok := strings.CutPrefix(variant, "homa-k"); ok {
		settings["k"] = k
	}
	for _, name := range []string{"b", "sthr", "unscht", "prio", "k"} {
		value := settings[name]
		switch {
		case value == "":
			continue
		case value == "0.014":
			value = "mss"
		case value != "inf" && name != "prio" && name != "k":
			value += "bdp"
		}
		if setting := name + "=" + value; !slices.Contains(own, setting) {
			rest += "/" + setting
		}
	}
	return j.Experiment.Protocol + "/" + config + "/" + workload, load, rest
}

// own are the settings that the paper's runs have unless it says others.
var own = []string{"b=1.5bdp", "sthr=0.5bdp", "unscht=1bdp", "prio=data", "k=7"}

// bdp is the paper's, in bytes.
const bdp = 100_000

// figuresOf are a point's figures, by their names in claims.
func figuresOf(p *points.Point) map[string]paper.Value {
	unstable := notCarried(p) != ""
	all := map[string]paper.Value{"goodput_gbps": {Number: p.Result.GoodputGbps}}
	for name, s := range slowdowns(p) {
		if s.Count < fewest {
			continue
		}
		group := "_slowdown_" + strings.ToLower(name)
		all["p50"+group] = paper.Value{Number: s.P50, Unstable: unstable}
		all["p99"+group] = paper.Value{Number: s.P99, Unstable: unstable}
	}
	leaves := p.Leaves()
	grows := unbounded(p) != ""
	all[paper.MaxTorQueue] = paper.Value{Number: float64(leaves.Max) / 1e6, Unstable: grows}
	all[paper.MeanTorQueue] = paper.Value{Number: leaves.Mean / 1e6, Unstable: grows}
	if curve := p.Curves.Queues[results.DownlinkQueues]; curve != nil {
		if i := slices.Index(results.CurveRanks, 0.99); i >= 0 && i < len(curve) {
			all["p99_link_queue_bdp"] = paper.Value{Number: curve[i] / bdp, Unstable: grows}
		}
		ports := float64(p.Experiment.Topology.HostsPerLeaf + p.Experiment.Topology.Spines)
		all["mean_link_queue_bdp"] = paper.Value{Number: leaves.Mean / ports / bdp, Unstable: grows}
	}
	gauges := p.Result.Gauges
	if held, ok := gauges["credit_held"]; ok {
		all["credit_at_senders_bdp"] = paper.Value{Number: held.Mean / bdp}
		all["credit_at_receivers_bdp"] = paper.Value{Number: gauges["credit_available"].Mean / bdp}
		all["credit_in_flight_bdp"] = paper.Value{Number: max(0, gauges["credit_out"].Mean-held.Mean) / bdp}
	}
	return all
}

// fewest is how many messages a size group has to have: with fewer, the released scripts
// have no percentile.
const fewest = 100

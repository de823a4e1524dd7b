package reproduce

import (
	"maps"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/sweep"
)

// Measured is what was found with arrivals as released, as package paper compares it with the
// print.
func (f *Found) Measured() *paper.Measured {
	m := &paper.Measured{Cells: map[paper.Cell]paper.Value{}, Quantities: map[string]paper.Value{}}
	for _, config := range paper.Configs {
		for _, workload := range paper.Workloads {
			for _, protocol := range f.Protocols(config) {
				add := func(table string, v paper.Value, run bool) {
					if run {
						m.Cells[paper.Cell{Table: table, Config: config, Workload: workload, Protocol: protocol}] = v
					}
				}
				v, run := f.Slowdown(config, workload, protocol, "released")
				add(paper.P99Slowdown, v, run)
				v, run = f.Goodput(config, workload, protocol)
				add(paper.MaxGoodput, v, run)
				v, run = f.Completed(config, workload, protocol)
				add(paper.MaxCompleted, v, run)
				v, run = f.Queue(config, workload, protocol)
				add(paper.MaxTorQueue, v, run)
				v, run = f.MeanQueue(config, workload, protocol)
				add(paper.MeanTorQueue, v, run)
			}
		}
	}
	f.quantities(m)
	return m
}

// quantities adds the figures of each point, by their names with the load, and without it
// those of all loads, which the configurations of the tables have as cells.
func (f *Found) quantities(m *paper.Measured) {
	goodputs := map[string]float64{} // of the points that have the credit of all loads
	for i := range f.Jobs {
		j, p := &f.Jobs[i], f.Points[i]
		if f.Needless(i) && j.first() {
			f.needlessQuantities(m, j)
		}
		// What was run again since it sets a maximum is of cells alone: it is longer than what it would be beside.
		if p == nil || !j.first() || j.Round == roundMaxima {
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
		all := !hasCells(j.Study) && f.hasAllLoads(j)
		for name, v := range figuresOf(p) {
			if load != "" {
				put(m, head+"/load="+load+rest+"/"+name, v, false)
			}
			overall := paper.Canonical(head + rest + "/" + name)
			switch {
			case !all:
			case name == "goodput_gbps":
				put(m, head+rest+"/"+paper.MaxGoodput, v, true)
			case name == paper.MaxTorQueue || name == paper.MeanTorQueue:
				put(m, overall, v, true)
			case strings.HasPrefix(name, "credit_"): // where the most is carried
				if most, there := goodputs[overall]; !there || p.Goodput() > most {
					m.Quantities[overall], goodputs[overall] = v, p.Goodput()
				}
			}
		}
	}
	for _, workload := range paper.Workloads {
		offeredQuantities(m, workload)
	}
	wanted := paper.Wanted() // without cells, which m has as such
	maps.DeleteFunc(m.Quantities, func(name string, _ paper.Value) bool { return !slices.Contains(wanted, name) })
}

// needlessQuantities adds the slowdowns of a load that was not run, since the protocol cannot even carry half load:
// they are unstable.
func (f *Found) needlessQuantities(m *paper.Measured, j *Job) {
	head, load, rest := j.names()
	at := j.place()
	at.Load = Half
	for _, p := range f.At(at) {
		for name := range figuresOf(p) {
			if strings.Contains(name, "_slowdown_") {
				put(m, head+"/load="+load+rest+"/"+name, paper.Value{Unstable: true}, false)
			}
		}
	}
}

// first reports whether a job is one of those that figures and quantities are of: of released arrivals
// and the first seed.
func (j *Job) first() bool { return j.Arrivals == "released" && j.Experiment.Seed == 1 }

// of calls each with the points that a study has of its own: all are of one length, since what Maxima adds is of the
// configurations of the tables.
func (f *Found) of(study string, each func(*Job, *points.Point)) {
	for i := range f.Jobs {
		if j := &f.Jobs[i]; j.Study == study && j.first() && f.Points[i] != nil {
			each(j, f.Points[i])
		}
	}
}

// hasAllLoads reports whether a job's study is over loads and has the points at all that are needed:
// of the same arrivals and protocol, and everywhere else on the axes where the job is.
func (f *Found) hasAllLoads(j *Job) bool {
	there, place := map[string]bool{}, j.butLoad()
	for i := range f.Jobs {
		if k := &f.Jobs[i]; f.Points[i] != nil && k.Study == j.Study && k.Arrivals == j.Arrivals &&
			k.Experiment.Protocol == j.Experiment.Protocol && slices.Equal(k.butLoad(), place) {
			there[k.Label("load")] = true
		}
	}
	return j.Label("load") != "" && !slices.ContainsFunc(f.Loads(j.Study), func(load string) bool {
		at := j.place()
		at.Load = load
		return !there[load] && !f.isNeedless(at)
	})
}

// hasCells reports whether a study is one of the configurations of the tables.
func hasCells(study string) bool { return slices.Contains(paper.Configs, study) }

// butLoad is where a job is on all axes but that of loads.
func (j *Job) butLoad() []sweep.Coordinate {
	return slices.DeleteFunc(slices.Clone(j.At), func(c sweep.Coordinate) bool { return c.Axis == "load" })
}

// put adds a quantity; of several of a name the first, or the highest.
func put(m *paper.Measured, name string, v paper.Value, highest bool) {
	name = paper.Canonical(name)
	old, there := m.Quantities[name]
	if !there || highest && !old.Unstable && (v.Unstable || v.Number > old.Number) {
		m.Quantities[name] = v
	}
}

// names are the parts of the names of a point's quantities: protocol, configuration and
// workload, the load, and its other settings.
func (j *Job) names() (head, load, rest string) {
	config, workload := j.Study, j.Label("workload")
	switch {
	case hasCells(config):
	case config == "unscheduled-incast":
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
		case value == unschtMSS:
			value = "mss"
		case value != "inf" && name != "prio" && name != "k":
			value += "bdp"
		}
		rest += "/" + name + "=" + value
	}
	return j.Experiment.Protocol + "/" + config + "/" + workload, load, rest
}

// paperBDP is that of section 6.2, in bytes.
const paperBDP = 100_000

// figuresOf are a point's figures, by their names in claims.
func figuresOf(p *points.Point) map[string]paper.Value {
	unstable := p.NotCarried() != ""
	all := map[string]paper.Value{"goodput_gbps": {Number: p.Goodput()}}
	for name, s := range slowdowns(p) {
		if s.Count < fewest {
			continue
		}
		group := "_slowdown_" + strings.ToLower(name)
		all["p50"+group] = paper.Value{Number: s.P50, Unstable: unstable}
		all["p99"+group] = paper.Value{Number: s.P99, Unstable: unstable}
	}
	leaves := p.Leaves()
	grows := p.QueueGrows() != ""
	all[paper.MaxTorQueue] = paper.Value{Number: float64(leaves.Max) / 1e6, Unstable: grows}
	all[paper.MeanTorQueue] = paper.Value{Number: leaves.Mean / 1e6, Unstable: grows}
	if curve := p.Curves.Queues[results.DownlinkQueues]; curve != nil {
		if i := slices.Index(results.CurveRanks, 0.99); i >= 0 && i < len(curve) {
			all["p99_link_queue_bdp"] = paper.Value{Number: curve[i] / paperBDP, Unstable: grows}
		}
		ports := float64(p.Experiment.Topology.HostsPerLeaf + p.Experiment.Topology.Spines)
		all["mean_link_queue_bdp"] = paper.Value{Number: leaves.Mean / ports / paperBDP, Unstable: grows}
	}
	gauges := p.Result.Gauges
	if held, ok := gauges["credit_held"]; ok {
		all["credit_at_senders_bdp"] = paper.Value{Number: held.Mean / paperBDP}
		all["credit_at_receivers_bdp"] = paper.Value{Number: gauges["credit_available"].Mean / paperBDP}
		all["credit_in_flight_bdp"] = paper.Value{Number: max(0, gauges["credit_out"].Mean-held.Mean) / paperBDP}
	}
	return all
}

// fewest is how many messages a size group has to have: with fewer, the released scripts
// have no percentile.
const fewest = 100

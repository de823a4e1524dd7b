package results

import (
	"strings"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// courseHosts is of how many hosts a fabric may be for its Course to have each of them: as
// small as the paper's outcast on its testbed, so that points stay small.
const courseHosts = 4

// A HostCourse is how a run went at one host, by part of a Course.
type HostCourse struct {
	Received []float64            `json:"received_bytes"` // payload
	Gauges   map[string][]float64 `json:"gauges"`         // as Course has them
}

// A partMeans is the mean of a host's gauge over each part, while a run goes on.
type partMeans struct {
	course *course
	sum    [courseSlices]float64
	count  [courseSlices]int
}

// gauge returns where a host's gauge is added up, nil for one that a Course leaves out:
// those of single peers ("credit_out/h1-2"), and the payload, which Received has.
func (c *course) gauge(h topo.HostID, name string) *partMeans {
	if name == PayloadGauge || strings.Contains(name, "/") {
		return nil
	}
	if c.gauges[name] == nil {
		c.gauges[name] = make([]*partMeans, len(c.fabric.Hosts))
	}
	g := &c.gauges[name][h]
	if *g == nil {
		*g = &partMeans{course: c}
	}
	return *g
}

func (g *partMeans) add(at units.Time, value float64) {
	if i, ok := g.course.part(at); ok {
		g.sum[i] += value
		g.count[i]++
	}
}

// means are those of the first n parts, up to one without a sample.
func (g *partMeans) means(n int) []float64 {
	list := []float64{}
	for i := 0; i < n && g.count[i] > 0; i++ {
		list = append(list, g.sum[i]/float64(g.count[i]))
	}
	return list
}

// addGauges completes a Course of n parts.
func (c *course) addGauges(r *Course, n int) {
	r.Gauges = map[string][]float64{}
	for name, hosts := range c.gauges {
		sum := make([]float64, n)
		for h, g := range hosts {
			if g == nil {
				continue
			}
			list := g.means(n)
			sum = sum[:min(len(sum), len(list))]
			for i := range sum {
				sum[i] += list[i]
			}
			if host, ok := r.Hosts[c.fabric.HostName(topo.HostID(h))]; ok {
				host.Gauges[name] = list
			}
		}
		r.Gauges[name] = sum
	}
}

// Package metric looks single figures of a run's results up by name, such as the
// p99 latency of a stream. Scenario files state bounds on them.
//
// Descriptors has what there is to know about each metric: what it is, in which
// unit, which fields and statistics it takes, and the function that evaluates it.
// The JSON schema of scenario files, their validation and the help of the command
// line are all made from it. To add a metric, write a Descriptor and put it into
// the table.
package metric

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// A Metric names one figure of a variant's results. Fields says what its fields
// mean, and a metric's Descriptor which of them apply to it.
type Metric struct {
	Name string `yaml:"metric" json:"metric"`
	Stat string `yaml:"stat,omitempty" json:"stat,omitempty"`

	Stream     string `yaml:"stream,omitempty" json:"stream,omitempty"`
	Group      string `yaml:"group,omitempty" json:"group,omitempty"`
	Definition string `yaml:"definition,omitempty" json:"definition,omitempty"`

	Host   string   `yaml:"host,omitempty" json:"host,omitempty"`
	Hosts  []string `yaml:"hosts,omitempty" json:"hosts,omitempty"`
	Port   string   `yaml:"port,omitempty" json:"port,omitempty"`
	Switch string   `yaml:"switch,omitempty" json:"switch,omitempty"`

	Gauge   string `yaml:"gauge,omitempty" json:"gauge,omitempty"`
	Counter string `yaml:"counter,omitempty" json:"counter,omitempty"`

	From *units.Time `yaml:"from,omitempty" json:"from,omitempty"`
	To   *units.Time `yaml:"to,omitempty" json:"to,omitempty"`
}

// Eval looks the figure up, in the unit of the metric's Descriptor. An error says
// what there is instead. Fields that do not apply are ignored: Check finds them.
func (m Metric) Eval(v *results.Variant) (float64, error) {
	d, ok := Find(m.Name)
	if !ok {
		return 0, missing("metric", m.Name, Names())
	}
	if len(d.Stats) > 0 && m.Stat == "" {
		m.Stat = d.Default
	}
	if len(d.Stats) > 0 && !slices.Contains(d.Stats, m.Stat) {
		return 0, missing("statistic (stat) of "+d.Name, m.Stat, d.Stats)
	}
	value, err := d.eval(&m, v)
	if err != nil {
		return 0, fmt.Errorf("%s of variant %q: %w", m.Name, v.Name, err)
	}
	return value, nil
}

// Unit is the unit of the figure, "" for a count and for the unit of a gauge.
func (m Metric) Unit() string {
	d, ok := Find(m.Name)
	if !ok || m.Stat == "count" {
		return ""
	}
	return d.Unit
}

// missing is the error of a name that is none of those there are.
func missing(what, name string, have []string) error {
	if len(have) == 0 {
		return fmt.Errorf("no %s is called %q: there is none", what, name)
	}
	const most = 24
	more := ""
	if len(have) > most {
		have, more = have[:most], ", ..."
	}
	return fmt.Errorf("no %s is called %q: use one of %s%s", what, name, strings.Join(have, ", "), more)
}

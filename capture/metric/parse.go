package metric

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/topo/units"
)

// Parse reads a metric as command lines have it: NAME[,FIELD=VALUE...], such as
// slowdown,stat=p99,group=A. Hosts are given with + between them. What does not fit is an
// error that says what would.
func Parse(text string) (Metric, error) {
	parts := strings.Split(text, ",")
	m := Metric{Name: parts[0]}
	var given []string
	for _, part := range parts[1:] {
		field, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return m, fmt.Errorf("%q: want FIELD=VALUE, such as stat=p99", part)
		}
		if _, ok := FindField(field); !ok {
			return m, missing("field", field, fieldNames())
		}
		if slices.Contains(given, field) {
			return m, fmt.Errorf("%s is given twice", field)
		}
		given = append(given, field)
		if err := m.set(field, value); err != nil {
			return m, fmt.Errorf("%s: %w", field, err)
		}
	}
	if err := m.Check(func(field string) bool { return slices.Contains(given, field) }); err != nil {
		return m, err
	}
	return m, nil
}

func fieldNames() (names []string) {
	for _, f := range Fields {
		names = append(names, f.Name)
	}
	return names
}

func (m *Metric) set(field, value string) error {
	texts := map[string]*string{
		"stat": &m.Stat, "stream": &m.Stream, "group": &m.Group, "definition": &m.Definition, "host": &m.Host,
		"port": &m.Port, "switch": &m.Switch, "gauge": &m.Gauge, "counter": &m.Counter,
	}
	if into := texts[field]; into != nil {
		*into = value
		return nil
	}
	if field == "hosts" {
		m.Hosts = strings.Split(value, "+")
		return nil
	}
	var at units.Time
	if err := at.UnmarshalText([]byte(value)); err != nil {
		return err
	}
	if field == "from" {
		m.From = &at
	} else {
		m.To = &at
	}
	return nil
}

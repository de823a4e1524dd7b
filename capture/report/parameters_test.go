package report

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

// Variants with the same parameters share a column, those that differ come first, and what
// the scenario gives is marked.
func TestParametersSideBySide(t *testing.T) {
	all := map[string]string{ // by variant
		"a": `{"b": 1.5, "policy": "srpt", "cutoffs": [1, 2]}`, "b": `{"b": 2, "policy": "srpt", "cutoffs": [1, 2]}`,
		"c": `{"b": 1.5, "policy": "srpt", "cutoffs": [1, 2]}`, "other": `{"k": "125KB", "b": 1.5}`,
	}
	m := &results.Manifest{}
	for _, name := range []string{"a", "b", "c", "other", "unknown"} {
		v := results.ManifestVariant{Variant: name, Protocol: "sird"}
		switch name {
		case "b":
			v.Experiment = emu.Experiment{Params: json.RawMessage(`{"b": 2}`)}
		case "other":
			v.Protocol = "dctcp"
		case "unknown":
			v.Protocol, v.Experiment.Params = "mine", json.RawMessage(`{"k": "1KB"}`)
		}
		m.Variants = append(m.Variants, v)
	}
	got := parameters(m, func(v *results.ManifestVariant) (json.RawMessage, error) {
		if text, ok := all[v.Variant]; ok {
			return json.RawMessage(text), nil
		}
		return nil, errors.New("no such protocol")
	})
	if want := []string{"parameter", "a, c", "b", "other", "unknown"}; !reflect.DeepEqual(got.Header, want) {
		t.Errorf("columns %q, want %q", got.Header, want)
	}
	want := [][]string{
		{"b", "1.5", "2*", "1.5", "-"}, {"k", "-", "-", "125KB", "1KB*"},
		{"cutoffs", "[1, 2]", "[1, 2]", "-", "-"}, {"policy", "srpt", "srpt", "-", "-"},
	}
	if !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("rows %q, want %q", got.Rows, want)
	}
}

// A page leaves out columns in which nothing stands, names among them.
func TestEmptyColumnsAreLeftOut(t *testing.T) {
	table := Table{Title: "x", Left: 2, Header: []string{"name", "none", "p50", "exact"}, Wide: []string{"name", "none",
		"median", "exact"}, Rows: [][]string{{"a", "-", "1", "-"}, {"b", "", "-", " "}}}
	got := table.filled()
	want := Table{Title: "x", Left: 1, Header: []string{"name", "median"}, Rows: [][]string{{"a", "1"}, {"b", "-"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

package all

import (
	"encoding/json"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// What overrides state that is the default anyway is left out, whatever way it is written; the rest
// stays as it is written.
func TestChangedParams(t *testing.T) {
	p, err := Find("sird")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ overrides, want string }{
		{``, ``},
		{`{"b": 1.5}`, ``},
		{`{"b": 15e-1, "sthr": 0.5}`, ``},
		{`{"b": 1.5, "sthr": "inf"}`, `{"sthr":"inf"}`},
		{`{"b":  2.0}`, `{"b":  2.0}`},
	} {
		got, err := ChangedParams(p, f, json.RawMessage(c.overrides))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.overrides, got, err, c.want)
		}
	}
	if _, err := ChangedParams(p, f, json.RawMessage(`{"nosuch": 1}`)); err == nil {
		t.Error("an unknown parameter is fine")
	}
}

//go:build linux

package real

import (
	"encoding/json"
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// In real time, rounds that are over before a packet there has come back are refused, with
// what to do. On 1 Gbps and 2 us dcPIM's take 1.3 x 10.688 us.
func TestRoundsBelowRealTime(t *testing.T) {
	for _, c := range []struct {
		name, protocol, params string
		dilation               units.Dilation
		loop                   units.Time
		devices                []emu.HostSpec
		want, not              string
	}{
		{"shorter than a loop", "dcpim", `{}`, 1, 200 * units.Microsecond, nil,
			"a larger --dilation, or longer rounds: --set dcpim.beta=75", "dcpim.rounds="},
		{"of hosts that are devices", "dcpim", `{}`, 1, 200 * units.Microsecond, []emu.HostSpec{{Name: "h1-1"}},
			"or model or longer rounds", "--dilation"},
		{"longer than a loop", "dcpim", `{"beta": 75}`, 1, 200 * units.Microsecond, nil, "", ""},
		{"as fast as links are", "dcpim", `{}`, 1, 13 * units.Microsecond, nil, "", ""},
		{"at a dilation", "dcpim", `{}`, 2, 200 * units.Microsecond, nil, "", ""},
		{"none", "sird", `{}`, 1, 200 * units.Microsecond, nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := small()
			x.Topology = topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: units.Gbps, HostDelay: 2 * units.Microsecond}
			x.Protocol, x.Params, x.Hosts = c.protocol, json.RawMessage(c.params), c.devices
			r := &run{x: x, facts: &emu.Facts{Dilation: c.dilation}, loop: topo.Loop{Usual: c.loop}}
			r.machine.Crowd.P90 = 1 // a machine that is late
			if _, err := r.resolve(); err != nil {
				t.Fatal(err)
			}
			err := r.checkRounds()
			if c.want == "" && err != nil {
				t.Errorf("got %v, want no error", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), c.not)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

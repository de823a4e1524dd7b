package flow_test

import (
	"strings"
	"testing"

	"sirdbed/baselines/flow"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo/units"
)

// A pool without connections would let every message wait for ever, and the number
// of a 257th would be that of the first.
func TestConfigurationsThatCannotWorkAreNamed(t *testing.T) {
	f := rack(t, 2)
	for name, change := range map[string]func(*flow.Config){
		"Connections is 0":     func(c *flow.Config) { c.Connections = 0 },
		"Connections is 257":   func(c *flow.Config) { c.Connections = 257 },
		"MinRTO is 0ns":        func(c *flow.Config) { c.MinRTO = 0 },
		"MaxTimeouts is -1":    func(c *flow.Config) { c.MaxTimeouts = -1 },
		"DelayedAck is 200us":  func(c *flow.Config) { c.DelayedAck = c.MinRTO },
		"SegmentsPerAck is 0":  func(c *flow.Config) { c.DelayedAck, c.SegmentsPerAck = units.Microsecond, 0 },
		"UplinkMark is -1B":    func(c *flow.Config) { c.UplinkMark = -1 },
		"Controller is nil":    func(c *flow.Config) { c.Controller = nil },
		"":                     func(c *flow.Config) { c.Connections = 256 },
		"0 timeouts, no delay": nil,
	} {
		c := config(66, change)
		if change == nil {
			c.MaxTimeouts, c.SegmentsPerAck, name = 0, 0, ""
		}
		env, _ := modeltest.Env(f, 0)
		_, err := flow.New(env, *c)
		if (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

//go:build !portable

package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sirdbed/sirdnode/endpoint"
	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo/units"
)

// A link whose rate nobody knows is said to be guessed.
func TestNodePageSaysWhereTheRateIsFrom(t *testing.T) {
	for _, c := range []struct {
		given, found units.BitsPerSecond
		want         string
	}{
		{0, 0, "sird on eth7, 10.0.0.1, 1Gbps (its driver does not say: --rate)\n"},
		{0, 25 * units.Gbps, "sird on eth7, 10.0.0.1, 25Gbps\n"},
		{10 * units.Gbps, 25 * units.Gbps, "sird on eth7, 10.0.0.1, 10Gbps\n"},
	} {
		var out strings.Builder
		command := &cobra.Command{}
		command.SetOut(&out)
		page := newNodePage(command, false)
		config := endpoint.Config{Protocol: sird.Protocol, Rate: c.given}
		page.tell(&config, func(endpoint.Second) string { return "" })
		i := nexthop.Interface{Name: "eth7", Addr: netip.MustParseAddr("10.0.0.1"), Rate: c.found}
		config.Opened(i, c.found > 0)
		page.close()
		if out.String() != c.want {
			t.Errorf("given %v, found %v: %q, want %q", c.given, c.found, &out, c.want)
		}
	}
}

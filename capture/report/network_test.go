package report

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A fabric is drawn with each node and link once, links that differ from the rest with what
// they are.
func TestNetworkIsDrawn(t *testing.T) {
	slow := 10 * units.Gbps
	for name, c := range map[string]struct {
		spec         topo.Spec
		nodes, links int
		texts        []string
		no           []string
	}{
		"one rack": {topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: 1000}, 4, 3,
			[]string{">leaf1<", ">h1-3<"}, []string{"other", "spine"}},
		"an odd link": {topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: 1000,
			Links: []topo.LinkOverride{{Between: [2]string{"h1-2", "leaf1"}, Rate: &slow}}}, 4, 3,
			[]string{">10Gbps, 1us<", `class="link other"`}, nil},
		"the paper's": {topo.Spec{Leaves: 9, HostsPerLeaf: 16, Spines: 4, HostRate: 100 * units.Gbps, HostDelay: 1000,
			CoreRate: 400 * units.Gbps, CoreDelay: 500}, 9*16 + 9 + 4, 9*16 + 9*4,
			[]string{">leaf9<", ">spine4<", ">16 hosts<"}, []string{`">h1-1</text>`, "other"}},
		"impossible": {topo.Spec{Leaves: 2}, 0, 0, nil, []string{"svg"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(drawNetwork(&c.spec))
			nodes, links := strings.Count(text, "<rect"), strings.Count(text, "<line")
			if nodes != c.nodes || links != c.links {
				t.Errorf("%d nodes and %d links, want %d and %d", nodes, links, c.nodes, c.links)
			}
			for _, want := range c.texts {
				if !strings.Contains(text, want) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			for _, bad := range append(c.no, "NaN", "style=") {
				if strings.Contains(text, bad) {
					t.Errorf("it has %s", bad)
				}
			}
			for d := xml.NewDecoder(strings.NewReader(text)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

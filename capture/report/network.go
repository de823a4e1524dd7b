package report

import (
	"fmt"
	"html/template"
	"strings"

	"sirdbed/topo"
)

// Sizes of the drawing of a fabric.
const (
	networkWidth = 720
	nodeHeight   = 22
	tierGap      = 74
	hostsNamed   = 16 // at most so many hosts have their names at them
)

// A tier is where the nodes of one kind are.
type tier struct {
	y, width float64 // width of a node
	x        []float64
}

// drawNetwork draws a fabric: spines above leaves above hosts. Links that differ from the
// rest are marked, with their rate and delay.
func drawNetwork(spec *topo.Spec) template.HTML {
	f, err := topo.New(*spec)
	if err != nil {
		return ""
	}
	spines, leaves, hosts := tiers(spec)
	at := func(id topo.NodeID) (x, y float64) {
		n := int(id)
		switch f.Nodes[id].Kind {
		case topo.Host:
			return hosts.x[n], hosts.y
		case topo.Leaf:
			return leaves.x[n-len(hosts.x)], leaves.y
		default:
			return spines.x[n-len(hosts.x)-len(leaves.x)], spines.y
		}
	}
	var links, nodes, texts strings.Builder
	for i := range f.Ports {
		p := &f.Ports[i]
		if p.Reverse < p.ID {
			continue // the other direction of a link
		}
		x1, y1 := at(p.Node)
		x2, y2 := at(p.Peer)
		if f.Nodes[p.Node].Kind == topo.Host || y1 > y2 {
			x1, y1, x2, y2 = x2, y2, x1, y1
		}
		y1 += nodeHeight
		if !p.Core && len(hosts.x) > 0 { // straight down
			x1 = x2
		}
		class, rate, delay := "link", spec.HostRate, spec.HostDelay
		if p.Core {
			class, rate, delay = "link core", spec.CoreRate, spec.CoreDelay
		}
		if p.Rate != rate || p.Delay != delay {
			class += " other"
			fmt.Fprintf(&texts, `<text class="other" x="%.1f" y="%.1f">%v, %v</text>`,
				x1+(x2-x1)*0.62, y1+(y2-y1)*0.62, p.Rate, p.Delay)
		}
		fmt.Fprintf(&links, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"><title>%s: %v, %v</title></line>`,
			class, x1, y1, x2, y2, template.HTMLEscapeString(p.Name), p.Rate, p.Delay)
	}
	named := len(hosts.x) <= hostsNamed
	for i := range f.Nodes {
		n := &f.Nodes[i]
		x, y := at(n.ID)
		width := [...]float64{topo.Host: hosts.width, topo.Leaf: leaves.width, topo.Spine: spines.width}[n.Kind]
		name := template.HTMLEscapeString(n.Name)
		fmt.Fprintf(&nodes, `<rect class="%v" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="3">`+
			`<title>%s</title></rect>`, n.Kind, x-width/2, y, width, nodeHeight, name)
		if n.Kind != topo.Host || named {
			class := ""
			if width < 55 {
				class = ` class="narrow"` // no room for a name on a phone
			}
			fmt.Fprintf(&texts, `<text%s x="%.1f" y="%.1f">%s</text>`, class, x, y+15, name)
		}
	}
	height := hosts.y + nodeHeight + 2
	if !named {
		height += 16
		for l := range spec.Leaves {
			text := fmt.Sprintf("%d hosts", spec.HostsPerLeaf)
			fmt.Fprintf(&texts, `<text x="%.1f" y="%.1f">%s</text>`, leaves.x[l], hosts.y+nodeHeight+14, text)
		}
	}
	return template.HTML(fmt.Sprintf(`<svg class="network" viewBox="0 0 %d %.0f" role="img" aria-label="%s">`,
		networkWidth, height, template.HTMLEscapeString(fabric(*spec))) +
		links.String() + nodes.String() + texts.String() + `</svg>`)
}

// tiers places the nodes: hosts side by side, each leaf over its own, spines over all.
func tiers(spec *topo.Spec) (spines, leaves, hosts tier) {
	y := 2.0
	if spec.Spines > 0 {
		spines.y, spines.width = y, min(120, networkWidth/float64(spec.Spines)*0.7)
		for i := range spec.Spines {
			spines.x = append(spines.x, networkWidth*(float64(i)+0.5)/float64(spec.Spines))
		}
		y += nodeHeight + tierGap
	}
	share := networkWidth / float64(spec.Leaves) // of a leaf
	leaves.y, leaves.width = y, share*0.9
	hosts.y = y + nodeHeight + tierGap*0.6
	slot := leaves.width / float64(spec.HostsPerLeaf)
	hosts.width = min(60, slot*0.86)
	for l := range spec.Leaves {
		middle := share * (float64(l) + 0.5)
		leaves.x = append(leaves.x, middle)
		for h := range spec.HostsPerLeaf {
			hosts.x = append(hosts.x, middle-leaves.width/2+slot*(float64(h)+0.5))
		}
	}
	return spines, leaves, hosts
}

package report

import (
	"slices"
	"strings"

	"sirdbed/capture/results"
)

// A facet is the part of a result that one figure shows where a single one would
// be too full: a scenario's variant, with every protocol.
type facet struct {
	name     string
	variants []*results.Variant
}

// facets divides the variants of a result that has several of several protocols,
// and more in all than there are colors. Otherwise it returns none.
func facets(variants []*results.Variant) (list []facet) {
	if len(variants) <= len(palette) || len(protocolsOf(variants)) < 2 {
		return nil
	}
	for _, v := range variants {
		name := strings.TrimSuffix(v.Name, "-"+v.Protocol)
		i := slices.IndexFunc(list, func(f facet) bool { return f.name == name })
		if i < 0 {
			i = len(list)
			list = append(list, facet{name: name})
		}
		list[i].variants = append(list[i].variants, v)
	}
	if len(list) == len(variants) || len(list) == 1 {
		return nil // their names do not show it
	}
	return list
}

// protocolsOf lists the protocols in the order of their first variants.
func protocolsOf(variants []*results.Variant) (names []string) {
	for _, v := range variants {
		if !slices.Contains(names, v.Protocol) {
			names = append(names, v.Protocol)
		}
	}
	return names
}

// label is what a legend calls a variant.
func (d *drawing) label(v *results.Variant) string {
	if d.facet != "" {
		return v.Protocol
	}
	return v.Name
}

// look numbers the color and dashes of the i-th variant: in facets a protocol
// has the same ones in all of them.
func (d *drawing) look(i int) int {
	if d.facet != "" {
		return slices.Index(d.protocols, d.variants[i].Protocol)
	}
	return i
}

// of ends a title, and dash a file's name, with the facet.
func (d *drawing) of() string {
	if d.facet == "" {
		return ""
	}
	return ", " + d.facet
}

func (d *drawing) dash() string {
	if d.facet == "" {
		return ""
	}
	return "-" + d.facet
}

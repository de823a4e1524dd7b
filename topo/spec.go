// Package topo describes a fabric as data: hosts, leaves and spines, the links
// between them, every node's addresses and routes, and how long a message takes
// over it unloaded. It knows nothing of Linux or of
// protocols; engines build what it describes.
//
// # Names and addresses
//
// Leaves and spines are leaf1, leaf2, ..., spine1, ...; host 7 of leaf 2 is
// h2-7. An interface carries the name of the node at its other end. Addresses
// read the same way:
//
//	10.0.2.7     h2-7, over any spine (ECMP)
//	10.3.2.7     h2-7, over spine 3 whatever the hash
//	10.250.2.7   h2-7, the address its kernel answers to (ping, kernel TCP)
//	10.251.0.2   leaf2
//	10.252.0.3   spine3
//
// A MAC is 02:, the number of the port within its node, and the node's address.
//
// A Fabric is immutable once made and safe for concurrent use.
package topo

import (
	"errors"
	"fmt"

	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Spec is a fabric as a scenario states it. Leaves and HostsPerLeaf must be
// positive; Spines may be 0 with a single leaf.
type Spec struct {
	// Number of leaf (top-of-rack) switches.
	Leaves int `yaml:"leaves" json:"leaves"`
	// Number of hosts on each leaf.
	HostsPerLeaf int `yaml:"hosts_per_leaf" json:"hosts_per_leaf"`
	// Number of spine switches; 0 only with one leaf.
	Spines int `yaml:"spines,omitempty" json:"spines,omitempty"`
	// Wire rate of each host's link.
	HostRate units.BitsPerSecond `yaml:"host_rate" json:"host_rate"`
	// Wire rate of each leaf-spine link.
	CoreRate units.BitsPerSecond `yaml:"core_rate,omitempty" json:"core_rate,omitempty"`
	// One-way propagation delay of each host's link.
	HostDelay units.Time `yaml:"host_delay" json:"host_delay"`
	// One-way propagation delay of each leaf-spine link.
	CoreDelay units.Time `yaml:"core_delay,omitempty" json:"core_delay,omitempty"`
	// Largest IP packet, 1500B unless given.
	MTU units.Bytes `yaml:"mtu,omitempty" json:"mtu,omitempty"`
	// Links that differ from the rest.
	Links []LinkOverride `yaml:"links,omitempty" json:"links,omitempty"`
}

// LinkOverride changes the rate or delay of one link, both directions. Zero
// fields keep the Spec's values.
type LinkOverride struct {
	// The nodes at the two ends, such as [leaf1, spine2].
	Between [2]string `yaml:"between" json:"between"`
	// Wire rate of this link.
	Rate *units.BitsPerSecond `yaml:"rate,omitempty" json:"rate,omitempty"`
	// One-way propagation delay of this link.
	Delay *units.Time `yaml:"delay,omitempty" json:"delay,omitempty"`
}

// A SpecError names a field of a Spec that is impossible, and the reason.
type SpecError struct {
	Field  string // path in the scenario file, such as "links[2].between"
	Reason string
}

func (e *SpecError) Error() string { return e.Field + ": " + e.Reason }

func specError(field, format string, args ...any) error {
	return &SpecError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Validate reports the first impossible field as a *SpecError.
func (s Spec) Validate() error {
	if err := within("", limit.Topology.Check(s)); err != nil {
		return err
	}
	for i := range s.Links {
		if err := within(fmt.Sprintf("links[%d].", i), limit.Link.Check(s.Links[i])); err != nil {
			return err
		}
	}
	switch {
	case s.Leaves*s.HostsPerLeaf < 2:
		return specError("hosts_per_leaf", "a fabric of one host has no one to talk to: want at least 2 hosts")
	case s.Leaves > 1 && s.Spines == 0:
		return specError("spines", "%d leaves with no spine cannot reach one another: add spines, or use one leaf",
			s.Leaves)
	case s.Spines > 0 && s.CoreRate == 0:
		return specError("core_rate", "missing: links to spines need a rate, %s",
			limit.Topology.Of("core_rate").Range())
	}
	return nil
}

// within makes a SpecError of a field outside its limit.
func within(path string, err error) error {
	if e, ok := errors.AsType[*limit.Error](err); ok {
		return &SpecError{Field: path + e.Field, Reason: e.Reason}
	}
	return err
}

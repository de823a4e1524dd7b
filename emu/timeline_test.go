package emu

import (
	"errors"
	"strings"
	"testing"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// What a kernel engine cannot have happen is an error that names the engine and what to do.
func TestTimelinesThatAKernelCannotHave(t *testing.T) {
	spec := topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 1, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const ms = units.Millisecond
	for _, c := range []struct {
		name   string
		event  fault.Event
		change func(*Experiment)
		wires  bool
		want   string // part of the error, "" for none
	}{
		{"a host's link", fault.Event{Link: "h1-1", Do: fault.Drop, Share: 0.1}, nil, false, ""},
		{"a host", fault.Event{Host: "h1-1", Do: fault.Kill}, nil, false, ""},
		{"a core link's rate", fault.Event{Link: "leaf1>spine1", Do: fault.Rate, Rate: units.Gbps}, nil, false, ""},
		{"a core link cut", fault.Event{Link: "leaf1>spine1", Do: fault.Blackhole}, nil, true, ""},
		{"the same without wires", fault.Event{Link: "leaf1>spine1", Do: fault.Blackhole}, nil, false,
			"engine real, leaf1>spine1: blackhole from 0ns: between switches it takes links that the kernel delays"},
		{"a core link that loses some", fault.Event{Link: "leaf1<>spine1", Do: fault.Drop, Share: 0.1}, nil, true,
			"use --engine model, or a host's link"},
		{"a core link down", fault.Event{Link: "leaf1<>spine1", Do: fault.Down}, nil, true, "use --engine model"},
		{"a device", fault.Event{Link: "leaf1>h1-1", Do: fault.Blackhole},
			func(x *Experiment) { x.Hosts = []HostSpec{{Name: "h1-1", Device: "eth1"}} }, true, "it is a device"},
		{"a host with programs", fault.Event{Host: "h1-1", Do: fault.Pause, For: ms},
			func(x *Experiment) { x.Apps = []App{{Host: "h1-2"}} }, true,
			"hosts with programs are neither killed nor paused"},
		{"a link beside programs", fault.Event{Link: "h1-1", Do: fault.Blackhole},
			func(x *Experiment) { x.Apps = []App{{Host: "h1-2"}} }, true, ""},
		{"kernel TCP cut", fault.Event{Link: "h1-1", Do: fault.Blackhole},
			func(x *Experiment) { x.Protocol = "tcp" }, true, "those of kernel TCP do not"},
		{"kernel TCP slowed", fault.Event{Link: "h1-1", Do: fault.Rate, Rate: units.Gbps},
			func(x *Experiment) { x.Protocol = "tcp" }, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &Experiment{Topology: spec, Protocol: "sird", Timeline: fault.Timeline{c.event}}
			if err := x.Timeline.Validate(f, ms); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(x)
			}
			err := CheckTimeline(x, f, Real, c.wires)
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want none", err)
				}
				return
			}
			if !errors.Is(err, ErrUnsuited) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want one with %q", err, c.want)
			}
		})
	}
}

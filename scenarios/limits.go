package scenarios

import (
	"reflect"
	"slices"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/traffic"
)

// A section is a key with the parameters of a protocol.
type section struct {
	typ    reflect.Type
	limits limit.Table
}

// sections are the keys of a Scenario or Variant besides its fields.
func sections() map[string]section {
	list := map[string]section{}
	for _, p := range all.List() {
		list[p.Name] = section{reflect.TypeOf(p.DefaultParams(sectionFabric())).Elem(), p.Limits}
	}
	return list
}

// scenarioLimits are those of a whole file. That of guests is beside the others since the
// number of guests is no part of what the model computes, as package limit is.
var scenarioLimits = append(slices.Clone(limit.Scenario),
	limit.Number[Guests]("guests", 1, maxGuests, "each has a place in the memory of their clock"))

// limits returns the limits of the fields of a type.
func limits(t reflect.Type) limit.Table {
	switch t {
	case reflect.TypeFor[Scenario]():
		return scenarioLimits
	case reflect.TypeFor[emu.HostSpec]():
		return limit.Host
	case reflect.TypeFor[Variant]():
		return limit.Variant
	case reflect.TypeFor[Axis]():
		return limit.Axis
	case reflect.TypeFor[AxisOption]():
		return limit.AxisOption
	case reflect.TypeFor[Sample]():
		return limit.Sample
	case reflect.TypeFor[Bound]():
		return limit.Bound
	case reflect.TypeFor[Reference]():
		return limit.Reference
	case reflect.TypeFor[topo.Spec]():
		return limit.Topology
	case reflect.TypeFor[topo.LinkOverride]():
		return limit.Link
	case reflect.TypeFor[traffic.Stream]():
		return limit.Stream
	case reflect.TypeFor[emu.App]():
		return limit.App
	case reflect.TypeFor[fault.Config]():
		return limit.Faults
	case reflect.TypeFor[fault.Event]():
		return limit.Event
	}
	return nil
}

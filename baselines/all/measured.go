package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Measured is the value of a parameter whose default follows from the fabric's credit
// loop, for its default by the loop as measured.
const Measured = `"measured"`

// AsksToMeasure reports whether overrides of parameters, a JSON object, have one that is
// to follow from the measured loop.
func AsksToMeasure(overrides json.RawMessage) bool {
	return bytes.Contains(overrides, []byte(Measured))
}

// resolveMeasured replaces what is to follow from the measured loop.
func resolveMeasured(p transport.Protocol, f *topo.Fabric, overrides json.RawMessage) (json.RawMessage, error) {
	if !AsksToMeasure(overrides) {
		return overrides, nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(overrides, &given); err != nil {
		return nil, err
	}
	byLoop, err := values(p, f.Measured())
	if err != nil {
		return nil, err
	}
	for name, value := range given {
		if string(value) != Measured {
			continue
		}
		follows, err := Follows(p, f, name)
		if err != nil {
			return nil, err
		}
		if !follows {
			return nil, fmt.Errorf("%s cannot be measured: its default does not follow from the credit loop", name)
		}
		given[name] = byLoop[name]
	}
	return json.Marshal(given)
}

// Follows reports whether the default of a parameter follows from the fabric's credit
// loop, so that it can be measured. A name that the protocol does not have is an error.
func Follows(p transport.Protocol, f *topo.Fabric, name string) (bool, error) {
	// A loop so long that every default that follows from it is another one. Time-outs
	// rest on its tail, which is none here.
	// f's own may be at its limit already, hence twice.
	slow := topo.Loop{Usual: units.Second}
	slower := f.WithLoop(slow).Measured().WithLoop(topo.Loop{Usual: 2 * slow.Usual}).Measured()
	here, err := values(p, f)
	if err != nil {
		return false, err
	}
	there, err := values(p, slower)
	if err != nil {
		return false, err
	}
	if here[name] == nil {
		return false, fmt.Errorf("no parameter is called %s", name)
	}
	return !bytes.Equal(here[name], there[name]), nil
}

// values are a protocol's defaults for a fabric, by the names that they have in files.
func values(p transport.Protocol, f *topo.Fabric) (map[string]json.RawMessage, error) {
	defaults := p.DefaultParams(f)
	if reflect.ValueOf(defaults).Kind() != reflect.Pointer {
		return nil, fmt.Errorf("the defaults of %s are no pointer", p.Name)
	}
	return named(defaults)
}

// named are parameters by the names that they have in files.
func named(params any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	return all, json.Unmarshal(text, &all)
}

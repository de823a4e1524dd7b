package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// BadParamsAreNamed checks that values that cannot work, in JSON and by parameter, are
// refused with an error that names the parameter; the defaults are not.
func BadParamsAreNamed(t *testing.T, protocol transport.Protocol, bad map[string][]string) {
	t.Helper()
	f := Rack(t, 2, 2*units.Microsecond)
	if err := try(f, protocol, `{}`); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for name, values := range bad {
		for _, value := range values {
			if err := try(f, protocol, `{"`+name+`": `+value+`}`); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %s: %v", name, value, err)
			}
		}
	}
}

func try(f *topo.Fabric, protocol transport.Protocol, overrides string) error {
	p, err := all.DecodeParams(protocol, f, json.RawMessage(overrides))
	if err != nil {
		return err
	}
	env, _ := Env(f, 0)
	_, err = protocol.New(env, p)
	return err
}

package all_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// With each parameter at either end of its limit a protocol refuses it for what it
// says beside others, or works: on the slowest, the fastest, the longest and the
// shortest links, and under attack.
func TestParametersAtTheirLimits(t *testing.T) {
	var fabrics []*topo.Fabric
	for _, rate := range []units.BitsPerSecond{limit.MinRate, 100 * units.Gbps, limit.MaxRate} {
		for _, delay := range []units.Time{0, units.Microsecond, units.Second} {
			for _, mtu := range []units.Bytes{256, limit.MaxMTU} {
				f, err := topo.New(topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 1, HostRate: rate, CoreRate: rate,
					HostDelay: delay, CoreDelay: delay, MTU: mtu})
				if err != nil {
					t.Fatal(err)
				}
				fabrics = append(fabrics, f)
			}
		}
	}
	for _, p := range all.List() {
		if p.New == nil {
			continue // the kernel's to survive
		}
		for _, l := range p.Limits {
			for _, value := range []float64{l.Min, l.Max} {
				t.Run(fmt.Sprintf("%s/%s=%v", p.Name, l.Field, value), func(t *testing.T) {
					for _, f := range fabrics {
						env, _ := modeltest.Env(f, 0)
						params := with(t, p, f, l.Field, value)
						if made, err := p.New(env, params); err == nil {
							p.Network(f, params)
							if wake := made.Wake(); wake < 0 {
								t.Errorf("wakes at %d with %+v", wake, params)
							}
						} else if !strings.Contains(err.Error(), " is ") && !strings.Contains(err.Error(), " are ") {
							t.Errorf("%v: want the parameter and its value", err)
						}
					}
					subject := modeltest.Subject{Protocol: p, Params: func(f *topo.Fabric, _ *rand.Rand) any {
						return with(t, p, f, l.Field, value)
					}}
					refused := "seed 0: " + p.Name + " at "
					if _, err := subject.Survives(500); err != nil && !strings.HasPrefix(err.Error(), refused) {
						t.Error(err)
					}
				})
			}
		}
	}
}

// with returns the default parameters but for one.
func with(t *testing.T, p transport.Protocol, f *topo.Fabric, field string, value float64) any {
	params := p.DefaultParams(f)
	v := reflect.ValueOf(params).Elem()
	found := false
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("json") != strings.TrimSuffix(field, "[]") {
			continue
		}
		found = true
		switch to := v.Field(i); {
		case to.Kind() == reflect.Slice && strings.HasSuffix(field, "[]"):
			to.Set(reflect.MakeSlice(to.Type(), 1, 1))
			to.Index(0).SetInt(int64(value))
		case to.Kind() == reflect.Slice:
			to.Set(reflect.MakeSlice(to.Type(), int(value), int(value)))
			for j := range to.Len() {
				to.Index(j).SetInt(int64(j + 1))
			}
		case to.CanFloat():
			to.SetFloat(value)
		default:
			to.SetInt(int64(value))
		}
	}
	if !found {
		t.Fatalf("%s has a limit of %s, and no such parameter", p.Name, field)
	}
	return params
}

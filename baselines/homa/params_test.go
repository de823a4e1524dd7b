package homa_test

import (
	"reflect"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/baselines/homa"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo/units"
)

// README, Parameters.
func TestDefaultsAt100GbpsAreSIRDsEvaluations(t *testing.T) {
	want := homa.Params{RTTBytes: 100_000, Workload: "traffic", LossTimeout: 5 * units.Millisecond, MaxResends: 5}
	if got := *homa.Protocol.DefaultParams(rack(t, 2)).(*homa.Params); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if p, err := all.Find("homa"); err != nil || p.Wire.Port != 47022 {
		t.Errorf("%+v, %v", p, err)
	}
}

// RTTbytes follow the hosts' rate, and are never below the fabric's BDP.
func TestRTTBytesFollowTheFabric(t *testing.T) {
	for _, c := range []struct {
		rate units.BitsPerSecond
		want units.Bytes
	}{{100 * units.Gbps, 100_000}, {25 * units.Gbps, 25_000}, {400 * units.Gbps, 400_000}} {
		s := modeltest.Small
		s.Leaves, s.Spines, s.CoreRate, s.CoreDelay = 1, 0, 0, 0
		s.HostRate, s.HostDelay = c.rate, 1000
		if got := params(modeltest.Fabric(t, s), nil).RTTBytes; got != c.want {
			t.Errorf("%v: %v, want %v", c.rate, got, c.want)
		}
	}
	s := modeltest.Small
	s.HostDelay = 10_000
	f := modeltest.Fabric(t, s)
	if got := params(f, nil).RTTBytes; got != f.BDP() || got <= 100_000 {
		t.Errorf("with a long loop: %v, want %v", got, f.BDP())
	}
}

func TestValidationNamesTheParameter(t *testing.T) {
	modeltest.BadParamsAreNamed(t, homa.Protocol, map[string][]string{
		"rtt_bytes":          {`"1445B"`, `"1GB"`},
		"workload":           {`"w3"`, `""`},
		"cutoffs":            {`["1B","2B","3B","4B","5B","6B","7B"]`, `["5B","5B"]`, `["10B"], "workload": "wka"`},
		"unscheduled_levels": {`8`, `-1`, `2, "workload": "none"`, `2, "cutoffs": ["10B", "20B"]`},
		"overcommitment":     {`-1`},
		"boost_tail":         {`"5GB"`},
		"loss_timeout":       {`"1us"`},
		"max_resends":        {`0`, `1001`},
	})
}

package sird_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo/units"
)

var inf = sird.Multiple(math.Inf(1))

// Paper, table 2; README, Parameters.
func TestDefaultsAt100GbpsAreThePapers(t *testing.T) {
	want := sird.Params{
		BDP: 100_000, B: 1.5, SThr: 0.5, NThr: 1.25, UnschT: 1,
		AccountUnscheduled: true, BucketCheck: "before", Samples: "released",
		Gain: 0.08, Increase: 1, IncreaseOnMark: true, CutSpacing: 1.5,
		MinSenderBucket: 0.1, MinNetBucket: 0.03, CSNMessages: 2,
		ECN: "core", CreditRate: 1, CreditPackets: 1, ReceiverPolicy: "srpt", SenderFair: 0.5, Priorities: "data",
		AckDelay: 1, LossDetection: "order", LossTimeout: 2 * units.Millisecond, MaxResends: 5,
	}
	if got := *params(rack(t, 2), nil); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	f := modeltest.Fabric(t, modeltest.Small)
	n := sird.Protocol.Network(f, params(f, nil))
	if n.Priorities != 2 || n.MarkCore != 125_000 || n.MarkEdge != 0 || n.CreditClass {
		t.Errorf("ports: %+v", n)
	}
}

// The BDP follows the hosts' rate, and is never below the fabric's own.
func TestBDPFollowsTheFabric(t *testing.T) {
	for _, c := range []struct {
		rate  units.BitsPerSecond
		delay units.Time
		want  units.Bytes
	}{
		{100 * units.Gbps, 1000, 100_000},
		{25 * units.Gbps, 1000, 25_000},
		{400 * units.Gbps, 1000, 400_000},
	} {
		s := modeltest.Small
		s.Leaves, s.HostsPerLeaf, s.Spines, s.CoreRate, s.CoreDelay = 1, 2, 0, 0, 0
		s.HostRate, s.HostDelay = c.rate, c.delay
		if got := params(modeltest.Fabric(t, s), nil).BDP; got != c.want {
			t.Errorf("%v: %v, want %v", c.rate, got, c.want)
		}
	}
	s := modeltest.Small
	s.HostDelay = 10_000
	f := modeltest.Fabric(t, s)
	if got := params(f, nil).BDP; got != f.BDP() || got <= 100_000 {
		t.Errorf("with a long loop: %v, want %v", got, f.BDP())
	}
}

func TestValidationNamesTheParameter(t *testing.T) {
	modeltest.BadParamsAreNamed(t, sird.Protocol, map[string][]string{
		"bdp":               {`1000`, `"2GB"`},
		"b":                 {`0.9`, `-1`},
		"sthr":              {`-0.1`},
		"nthr":              {`-1`},
		"unscht":            {`-1`},
		"bucket_check":      {`"sometimes"`, `""`},
		"aimd_samples":      {`"none"`},
		"gain":              {`1.1`, `-0.1`},
		"increase":          {`-1`},
		"cut_spacing":       {`-1`},
		"min_sender_bucket": {`1.5`},
		"min_net_bucket":    {`-0.5`},
		"ecn":               {`"edge"`},
		"credit_rate":       {`0`, `1.5`},
		"credit_packets":    {`0`, `65`},
		"receiver_policy":   {`"fifo"`},
		"sender_fair":       {`2`},
		"priorities":        {`"all"`},
		"oldest_share":      {`-0.1`, `1.1`},
		"bucket_aging":      {`"3601s"`},
		"ack_delay":         {`-1`, `33`},
		"loss_detection":    {`"both"`},
		"loss_timeout":      {`"1us"`, `"0s"`},
		"max_resends":       {`0`, `-3`},
		"csn_messages":      {`-1`},
	})
}

// What JSON has no number for is written "inf", and read back.
func TestMultiplesMayBeInf(t *testing.T) {
	for text, want := range map[string]sird.Multiple{`"inf"`: inf, `0`: 0, `1.5`: 1.5} {
		var got sird.Multiple
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %v (%v)", text, got, err)
		}
		if back, err := json.Marshal(got); err != nil || string(back) != text {
			t.Errorf("%v: %s (%v)", got, back, err)
		}
	}
	var m sird.Multiple
	for _, text := range []string{`"1BDP"`, `"-inf"`, `true`} {
		if err := json.Unmarshal([]byte(text), &m); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	f := rack(t, 2)
	infinite := json.RawMessage(`{"b": "inf", "sthr": "inf", "nthr": "inf", "unscht": "inf"}`)
	p, err := all.DecodeParams(sird.Protocol, f, infinite)
	if err != nil {
		t.Fatal(err)
	}
	if n := sird.Protocol.Network(f, p); n.MarkCore != 0 || n.MarkEdge != 0 {
		t.Errorf("an infinite NThr marks: %+v", n)
	}
	env, _ := modeltest.Env(f, 0)
	if _, err := sird.Protocol.New(env, p); err != nil {
		t.Error(err)
	}
}

package xpass_test

import (
	"math"
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo/units"
)

// README, Parameters; SIRD paper, section 6.2, table of parameters: alpha 1/16,
// w_init 1/16, loss_tgt 1/8.
func TestDefaultsAreTheEvaluations(t *testing.T) {
	want := xpass.Params{
		Alpha: 0.0625, ShortMessage: 40, WInit: 0.0625, WMin: 0.01, WMax: 0.5, WIncrease: "step", WStep: 0.05,
		TargetLoss: 0.125,
		RTTGain:    0.2, Jitter: 0.1, CreditMin: 76, CreditMax: 92, Queue: 8, EarlyStop: 1, Connections: 40,
		RetransmitTimeout: 100 * units.Microsecond, StopTimeout: 2 * units.Millisecond, MaxAttempts: 100,
	}
	if got := *params(rack(t, 2), nil); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// Credits may take 84/(84+1538) of a link (ExpressPass paper, section 3.1;
// README, Ports), and with other sizes the share that lets the data that they
// bring fill the rest: sizes of 76 to 92 bytes are at least 84 on the wire, so
// (9*84 + 85 + ... + 92)/17 = 86.12 on average, and a jumbo frame takes 9038
// bytes.
func TestCreditShare(t *testing.T) {
	for _, c := range []struct {
		mtu, least, most units.Bytes
		size, share      float64
	}{
		{1500, 84, 84, 84, 84. / 1622},
		{1500, 76, 84, 84, 84. / 1622},
		{1500, 76, 92, 1464. / 17, 1464. / 17 / (1464./17 + 1538)},
		{1500, 84, 100, 92, 92. / 1630},
		{9000, 84, 84, 84, 84. / 9122},
		{9000, 76, 92, 1464. / 17, 1464. / 17 / (1464./17 + 9038)},
	} {
		s := modeltest.Small
		s.MTU = c.mtu
		f := modeltest.Fabric(t, s)
		p := params(f, func(p *xpass.Params) { p.CreditMin, p.CreditMax = c.least, c.most })
		n := xpass.Protocol.Network(f, p)
		if math.Abs(p.CreditSize()-c.size) > 1e-9 || math.Abs(n.CreditShare-c.share) > 1e-12 {
			t.Errorf("MTU %v, credits of %v to %v: size %g, share %g; want %g, %g", c.mtu, c.least, c.most,
				p.CreditSize(), n.CreditShare, c.size, c.share)
		}
		if !n.CreditClass || n.CreditQueue != 8 || n.Priorities != 1 || n.MarkCore != 0 || n.MarkEdge != 0 {
			t.Errorf("ports: %+v", n)
		}
	}
}

func TestValidationNamesTheParameter(t *testing.T) {
	modeltest.BadParamsAreNamed(t, xpass.Protocol, map[string][]string{
		"alpha":               {`0`, `1.1`, `-1`},
		"short_message":       {`0`},
		"w_init":              {`0.001`, `0.6`},
		"w_min":               {`0`, `2`},
		"w_max":               {`0.001`, `1.5`},
		"w_increase":          {`"twice"`},
		"w_step":              {`-0.1`},
		"target_loss":         {`-0.1`, `1.5`},
		"rtt_gain":            {`0`, `1.5`},
		"jitter":              {`-0.1`, `1.5`},
		"credit_min":          {`"119B"`},
		"credit_max":          {`"75B"`, `"119B"`},
		"credit_queue":        {`0`},
		"early_stop":          {`-1`},
		"connections":         {`0`, `70000`},
		"max_attempts":        {`0`},
		"retransmit_timeout":  {`"0s"`},
		"credit_stop_timeout": {`"50us"`},
	})
}

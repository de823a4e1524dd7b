package dcpim_test

import (
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo/units"
)

// README, Parameters.
func TestDefaultsAreTheReleased(t *testing.T) {
	want := dcpim.Params{
		Rounds: 4, Channels: 4, Beta: 1.3, Alpha: 1, SelectMinRounds: 1, PromptLinks: true,
		BDP: 48 * frame, TokenInitial: 1, TokenWindow: 1, TokenTimeout: 8, TokenResendTimeout: 1,
		TokenWindowTimeout: 1.1, SkipTokens: true, Priorities: 3, RetryTimeout: 1, MaxRetries: 10,
	}
	f := modeltest.Fabric(t, released)
	if got := *params(f, nil); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	n := dcpim.Protocol.Network(f, params(f, nil))
	if n.Priorities != 3 || n.MarkCore != 0 || n.MarkEdge != 0 || n.CreditClass {
		t.Errorf("ports: %+v", n)
	}
}

// README, Priorities: with base 7, up to 7 packets have class 1, up to 49 class
// 2, up to 343 class 3, and so on. pimflow.cpp passes token_initial, 49
// packets, which is the default and makes the SIRD paper's 3 levels: control,
// short messages, long ones.
func TestDataPriorityGoesBySize(t *testing.T) {
	f := modeltest.Fabric(t, released)
	for _, c := range []struct {
		base, packets, class int
	}{
		{7, 1, 1}, {7, 7, 1}, {7, 8, 2}, {7, 49, 2}, {7, 50, 3}, {7, 343, 3}, {7, 344, 4}, {7, 1 << 24, 7},
		{0, 1, 1}, {0, 49, 1}, {0, 50, 2}, {0, 2401, 2}, {0, 2402, 3},
	} {
		p := params(f, func(p *dcpim.Params) { p.PriorityBase = c.base })
		if got := p.Class(c.packets, 49); got != c.class {
			t.Errorf("base %d: %d packets have class %d, want %d", c.base, c.packets, got, c.class)
		}
	}
}

func TestValidationNamesTheParameter(t *testing.T) {
	modeltest.BadParamsAreNamed(t, dcpim.Protocol, map[string][]string{
		"rounds":               {`0`, `65`},
		"channels":             {`0`, `9`},
		"beta":                 {`0.9`, `-1`},
		"alpha":                {`0.5`, `17`},
		"select_min_rounds":    {`-1`},
		"bdp":                  {`1000`, `"2GB"`},
		"token_initial":        {`-1`},
		"token_window":         {`0`},
		"token_timeout":        {`-1`},
		"token_resend_timeout": {`0`},
		"token_window_timeout": {`0`},
		"priorities":           {`0`, `9`},
		"priority_base":        {`1`, `-7`},
		"retry_timeout":        {`0`},
		"max_retries":          {`0`},
	})
}

// A slow fabric whose BDP is below a packet works.
func TestBDPIsAtLeastAPacket(t *testing.T) {
	s := modeltest.Small
	s.HostRate, s.CoreRate = 100*units.Mbps, 100*units.Mbps
	f := modeltest.Fabric(t, s)
	env, _ := modeltest.Env(f, 0)
	if _, err := dcpim.Protocol.New(env, params(f, nil)); err != nil {
		t.Error(err)
	}
}

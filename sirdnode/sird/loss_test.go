package sird_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

func params(f *topo.Fabric, change func(*sird.Params)) *sird.Params {
	return modeltest.Params(sird.Protocol, f, change)
}

func newSim(t testing.TB, c model.Config) *model.Sim { return modeltest.Sim(t, sird.Protocol, c) }

// subject is SIRD with the requirements of every protocol.
var subject = modeltest.Subject{
	Protocol: sird.Protocol, Seeds: 2000, Check: addsUp,
	Params: func(f *topo.Fabric, r *rand.Rand) any {
		return params(f, func(p *sird.Params) {
			p.MaxResends = 50
			p.UnschT = []sird.Multiple{0, 1, 4}[r.IntN(3)]
			p.AccountUnscheduled = r.IntN(4) > 0
			p.ReceiverPolicy = []string{"srpt", "round_robin"}[r.IntN(2)]
		})
	},
}

// addsUp expects sums of credit that agree, and at most a BDP to each sender.
func addsUp(t transport.Transport) error {
	s := t.(*sird.SIRD)
	if broken, excess := s.Broken(), s.Excess(math.MaxInt32); broken != "" || excess > 0 {
		return fmt.Errorf("%d of credit too much: %s", max(0, excess), broken)
	}
	return nil
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption; and when all is done no credit has leaked or been
// minted (README, Header).
func TestExactlyOnceAndNoCreditLeaksUnderFaults(t *testing.T) {
	modeltest.ExactlyOnceUnderFaults(t, subject)
}

// Whichever end is dead, the message fails, and neither end keeps any state of it.
func TestDeadPeerFailsTheMessage(t *testing.T) { modeltest.DeadPeerFailsTheMessage(t, subject) }

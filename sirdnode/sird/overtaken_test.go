package sird_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Announcing again: a message of a packet that is lost whole is missed in a few rounds, when what was
// sent after it is acknowledged, a request in 16 more; a message after which nothing is sent, in 32.
func TestMessageThatWasOvertakenIsAnnouncedSoon(t *testing.T) {
	for _, f := range []*topo.Fabric{rack(t, 9), modeltest.Fabric(t, modeltest.Eight)} {
		dst := topo.HostID(len(f.Hosts) - 1) // over the spines, if there are any
		for name, c := range map[string]struct {
			size  units.Bytes
			kind  string
			id    uint32
			after bool // something is sent after it
			from  units.Time
			until units.Time
		}{
			"a small message":           {8, "DATA", 1, true, round, 8 * round},
			"a request":                 {300_000, "DATA", 1, true, 16 * round, 20 * round},
			"a small message, the last": {8, "DATA", 1, false, 32 * round, 50 * round},
			"an acknowledgement":        {8, "ACK", 1, true, 0, 8 * round},
		} {
			sends := []model.Send{{At: 0, Dst: dst, Size: 8}, {At: 20_000, Dst: dst, Size: c.size}}
			if c.after {
				for k := range units.Time(6) {
					sends = append(sends, model.Send{At: 30_000 + 20_000*k, Dst: dst, Size: 100})
				}
			}
			run := func(limit int) (units.Time, int64) {
				sim := newSim(t, model.Config{Fabric: f, Sends: sends,
					Lose: loses(f, limit, func(_ model.PacketEvent, h sird.Header) bool {
						return h.Kind == c.kind && uint32(h.ID) == c.id
					})})
				modeltest.AllDone(t, f, sim, units.Second)
				m := sim.Messages()[1]
				return m.Acked - m.Offered, modeltest.Counted(f, sim, "messages_announced_again")
			}
			without, _ := run(0)
			with, announced := run(1)
			if more := with - without; more < c.from || more > c.until || announced > 1 {
				t.Errorf("%d leaves, %s: acknowledged %v later, want %v to %v; announced %d times", f.Spec.Leaves, name,
					more, c.from, c.until, announced)
			}
		}
	}
}

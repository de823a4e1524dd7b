//go:build linux

package real

import (
	"fmt"
	"math"

	"sirdbed/baselines/all"
	"sirdbed/emu"
)

// roomyRounds is how many credit loops a round is advised to last in real time: most packets
// are then in time for theirs. Of 100 messages of 1 MB at 1 Gbps dcPIM brought 26 to 34
// through with rounds of up to a loop, 68 with some two loops, all with some four.
const roomyRounds = 4

// checkRounds reports a protocol whose hosts act in step, in rounds that are over before a
// packet there has come back in real time: messages that are matched in them do not get on.
func (r *run) checkRounds() error {
	if !r.realTime() {
		return nil
	}
	protocol, err := all.Find(r.x.Protocol)
	if err != nil || protocol.Rounds == nil {
		return err
	}
	params, err := all.DecodeParams(protocol, r.topology, r.x.Params)
	if err != nil {
		return err
	}
	rounds := protocol.Rounds(r.topology, params)
	if rounds.Length >= r.loop.Usual {
		return nil
	}
	slower := ", a larger --dilation,"
	if len(r.x.Hosts) > 0 {
		slower = "" // devices have one
	}
	advised := math.Ceil(roomyRounds * rounds.Value * float64(r.loop.Usual) / float64(rounds.Length))
	return fmt.Errorf("rounds of %s take %v, and packets there and back %v here in real time (p90), so that hosts "+
		"miss their rounds: use --engine %s or %s%s or longer rounds: --set %s.%s=%.0f", r.x.Protocol, rounds.Length,
		r.loop.Usual, emu.Virtual, emu.Model, slower, r.x.Protocol, rounds.Param, advised)
}

package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

// none is the threshold of packets that no network would have lost.
func none(level results.Level, why string) Threshold {
	return Threshold{Of: "packets lost", Limit: 0, Unit: "packets", Level: level, Why: why}
}

// lossOutside is why no packet may be lost outside the ports.
const lossOutside = "A single packet lost outside the ports is a loss that the protocol reacts to."

// lost is the finding of a check that nothing was lost where no network would
// lose it. what names what dropped n packets.
func (j *judge) lost(n int64, limit Threshold, what string) {
	j.add(limit.level(float64(n)), "no packet is lost", "%s lost by %s", packets(n), what)
}

// packets is a number of packets in words.
func packets(n int64) string {
	if n == 1 {
		return "1 packet"
	}
	return fmt.Sprintf("%d packets", n)
}

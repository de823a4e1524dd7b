package points

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// sumHead begins the file of a point, before the checksum of all that follows it.
const sumHead = `{"sum":"`

// withSum puts its checksum before the JSON of a point.
func withSum(text []byte) []byte {
	rest := text[1:] // without its {
	return append([]byte(sumHead+sum(rest)+`",`), rest...)
}

// checkSum returns an error unless a point's file has its own checksum.
func checkSum(text []byte) error {
	rest, ok := bytes.CutPrefix(text, []byte(sumHead))
	if !ok {
		var moved struct {
			Sum string `json:"sum"`
		}
		if err := json.Unmarshal(text, &moved); err == nil && moved.Sum != "" {
			return errors.New("damaged: it was written anew, and its checksum is of other bytes")
		}
		return errors.New("damaged: it has no checksum")
	}
	given, rest, ok := bytes.Cut(rest, []byte(`",`))
	if !ok || string(given) != sum(bytes.TrimRight(rest, "\r\n")) {
		return errors.New("damaged: its checksum is not that of its content")
	}
	return nil
}

func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:8])
}

// longest is more seconds than any run takes.
const longest = 1e9

// sound returns what a point has that no run makes: it is not believed, whoever wrote it.
func (p *Point) sound() error {
	r := &p.Result
	switch r.Verdict {
	case results.Pass, results.Degraded, results.Invalid:
	default:
		return fmt.Errorf("its verdict is %q", r.Verdict)
	}
	// An apparent rate may be above the links', which the verdict judges.
	rate := p.Experiment.Topology.HostRate
	for _, l := range p.Experiment.Topology.Links {
		if l.Rate != nil {
			rate = max(rate, *l.Rate)
		}
	}
	most := 10 * float64(rate) / float64(units.Gbps)
	for _, x := range []struct {
		name       string
		value, max float64
		unit       string
	}{
		{"goodput", r.GoodputGbps, most, "Gbps"}, {"offered load", r.OfferedGbps, 1e6, "Gbps"},
		{"wall time", r.WallSeconds, longest, "s"}, {"processor time", p.ProcessorSeconds, longest, "s"},
	} {
		if !(x.value >= 0 && x.value <= x.max) {
			return fmt.Errorf("its %s is %v %s", x.name, x.value, x.unit)
		}
	}
	for name, q := range r.QueueBytes.Switches {
		if !(q.Max >= 0 && q.Mean >= 0) {
			return fmt.Errorf("the queue of %s is negative", name)
		}
	}
	for _, byGroup := range r.Slowdown {
		for group, s := range byGroup {
			if s.Count < 0 || !(s.P50 >= 0 && s.P99 >= 0) {
				return fmt.Errorf("the slowdown of %s is negative", group)
			}
		}
	}
	if c := p.Course; c != nil {
		if c.Slice <= 0 {
			return fmt.Errorf("the parts of its course last %v", c.Slice)
		}
		for _, list := range [][]float64{c.Offered, c.Received, c.QueueMax, c.QueueMean} {
			for _, x := range list {
				if !(x >= 0) {
					return errors.New("its course has a negative figure")
				}
			}
		}
	}
	return nil
}

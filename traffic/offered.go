package traffic

import (
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Offered is what one stream offers to the network between its start and stop.
type Offered struct {
	Stream   string
	Senders  int                 // hosts that may send
	MeanSize float64             // bytes of payload of a message
	Rate     units.BitsPerSecond // payload of all senders together; 0 for outcast and list, which have none
}

// OfferedLoad returns what each of a scenario's streams offers. It fails as
// Validate does.
func OfferedLoad(f *topo.Fabric, streams []Stream) ([]Offered, error) {
	if err := Validate(f, streams); err != nil {
		return nil, err
	}
	all := make([]Offered, len(streams))
	for i := range streams {
		s := &streams[i]
		o := Offered{Stream: s.Name, MeanSize: s.Distribution().Mean(s.sampling())}
		from, _ := s.ends(f)
		o.Senders = len(from)
		var rate float64
		switch s.Pattern {
		case PatternPoisson, PatternFixed:
			for _, h := range from {
				rate += s.payloadRate(f, h)
			}
		case PatternIncast:
			rate = float64(s.Size) * float64(s.FanIn) * 8e9 / s.period(f)
		case PatternList:
			senders := map[string]bool{}
			for _, m := range s.Messages {
				senders[m.Src] = true
			}
			o.Senders = len(senders)
		}
		o.Rate = units.BitsPerSecond(rate + 0.5)
		all[i] = o
	}
	return all, nil
}

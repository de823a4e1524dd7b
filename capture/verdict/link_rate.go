package verdict

import (
	"sirdbed/capture/results"
	"sirdbed/topo"
)

var linkRateLimit = Threshold{
	Of: "bytes carried, over what the port can have carried", Limit: 1 + rateSlack.Limit, Unit: share,
	Level: results.Invalid,
	Why: "Rounding makes ports faster by up to 0.1 %; a port that carried more was not the link that it stands " +
		"for.",
}

var linkRate = Check{
	Name: "link rate",
	Asks: "Did any port carry more than its link can?",
	How: "By the run's end a port can have carried its rate times the nominal time, plus what it may send at once " +
		"(its burst) and one packet. Each port's count of wire bytes, less what waited in a queue at the end of the " +
		"run and left later, is compared with that.",
	Made:       onKernel,
	Thresholds: []Threshold{linkRateLimit},
	Do:         "See the check rounded rates. If it passes this is a bug of the engine's ports.",
	check:      checkLinkRate,
}

func checkLinkRate(j *judge) {
	ports := map[string]*topo.Port{}
	for i := range j.v.Fabric.Ports {
		ports[j.v.Fabric.Ports[i].Name] = &j.v.Fabric.Ports[i]
	}
	most, name, seen := 0.0, "", 0
	for _, f := range j.v.Facts.Ports {
		p, ok := ports[f.Name]
		if !ok || j.v.Facts.Reached <= 0 {
			continue
		}
		seen++
		room := p.Rate.BytesIn(max(j.v.Facts.Reached, j.v.Facts.PortsAt)) + j.burst(p) + j.v.Fabric.FullFrame()
		if s := float64(f.WireBytes-f.LateBytes) / float64(room); s > most {
			most, name = s, f.Name
		}
	}
	if seen == 0 {
		return
	}
	j.add(linkRateLimit.level(most), "at most "+linkRateLimit.number()+" of rate x time + burst",
		"at most %s%s", figure(most, linkRateLimit), where(name, missed(most, linkRateLimit)))
}

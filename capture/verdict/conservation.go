package verdict

import (
	"fmt"
	"math"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// conservation: sent = received + counted drops, in the whole fabric and at
// every host's link.
func (j *judge) conservation() {
	c := j.v.Conservation
	limit := "sent = received + counted drops, in flight at the end aside"
	if j.kernel() {
		limit = "TCP segments, as the hosts' kernels count them: " + limit
	}
	found := fmt.Sprintf("%d sent, %d received, %d dropped by queue limits, %d credits dropped, %d lost elsewhere", c.Sent, c.Received, c.Drops, c.Credits, c.Elsewhere)
	switch {
	case c.Missing < 0:
		j.add("conservation", results.Invalid, limit, "%s: %d more than were sent", found, -c.Missing)
	case c.Missing > c.InFlight:
		j.add("conservation", results.Invalid, limit, "%s: %d are missing, at most %d can have been in flight", found, c.Missing, c.InFlight)
	default:
		j.add("conservation", results.Pass, limit, "%s, %d in flight at the end", found, c.Missing)
	}
}

// drops: nothing was lost where no network would lose it.
func (j *judge) drops() {
	f := j.v.Facts
	var ring int64
	for _, h := range f.Hosts {
		ring += h.RingDrops
	}
	for _, d := range []struct {
		name  string
		n     int64
		level results.Level
		where string
	}{
		{socketDrops, ring, results.Invalid, "hosts' receive rings"},
		{"kernel drops", f.SoftnetDrops, results.Invalid, "the kernel's backlog"},
		{"link drops", f.LinkDrops, results.Invalid, "interfaces outside their ports"},
		{"capture drops", f.CaptureDrops, results.Degraded, "captures"},
	} {
		level := results.Pass
		if d.n > 0 {
			level = d.level
		}
		if d.name == socketDrops && j.kernel() {
			continue // there are no rings; what TCP drops it sends again, and counts
		}
		j.add(d.name, level, "0", "%d packets lost by %s", d.n, d.where)
	}
	j.corruption()
}

const socketDrops = "socket drops"

// kernel tells whether the hosts' packets were their kernel's.
func (j *judge) kernel() bool { return len(j.v.Facts.Hosts) > 0 && j.v.Facts.Hosts[0].Kernel }

// timers: those of a protocol of the kernel ran at nominal speed, or nearly.
func (j *judge) timers() {
	if !j.kernel() {
		return
	}
	d, level := j.v.Facts.Dilation, results.Pass
	if d > emu.MaxKernelDilation {
		level = results.Degraded
	}
	j.add("kernel timers", level, fmt.Sprintf("dilation %d", emu.MaxKernelDilation),
		"dilation %d: the kernel's timers are not stretched, so that TCP's are shorter by that in nominal time (least retransmission timeout %v)",
		d, 200*units.Millisecond/units.Time(max(1, d)))
}

// corruption: checksums found what the fault shim damaged, all of it and
// nothing else.
func (j *judge) corruption() {
	var found, meant int64
	for _, h := range j.v.Facts.Hosts {
		found += h.Corrupt
		meant += h.Flipped
	}
	const limit = "as many as were damaged on purpose"
	switch {
	case found > meant:
		j.add("corruption", results.Invalid, limit, "%d packets failed their checksum, %d were damaged on purpose", found, meant)
	case found < meant:
		j.add("corruption", results.Invalid, limit, "%d packets were damaged on purpose, %d failed their checksum", meant, found)
	case meant > 0:
		j.add("corruption", results.Pass, limit, "%d packets, found by their checksum", found)
	}
}

// rates: by the run's end no port had carried more than its rate.
func (j *judge) rates() {
	ports := map[string]*topo.Port{}
	for i := range j.v.Fabric.Ports {
		ports[j.v.Fabric.Ports[i].Name] = &j.v.Fabric.Ports[i]
	}
	worst, name, seen := 0.0, "", 0
	for _, f := range j.v.Facts.Ports {
		p, ok := ports[f.Name]
		if !ok || j.v.Facts.Reached <= 0 {
			continue
		}
		seen++
		room := p.Rate.BytesIn(max(j.v.Facts.Reached, j.v.Facts.PortsAt)) + j.burst(p) + j.v.Fabric.FullFrame()
		if share := float64(f.WireBytes-f.LateBytes) / float64(room); share > worst {
			worst, name = share, f.Name
		}
	}
	if seen == 0 {
		return
	}
	level := results.Pass
	if worst > 1+rateSlack {
		level = results.Invalid
	}
	j.add("link rate", level, "100 % of rate x time + burst", "at most %.2f %% (%s)", 100*worst, name)
}

// rounding: ports' rates are what they should be, as far as a kernel that counts
// in whole bytes and ns can make them.
func (j *judge) rounding() {
	worst, small, name := 0.0, 0.0, ""
	for _, f := range j.v.Facts.Ports {
		small = max(small, math.Abs(f.SmallRateError))
		if e := math.Abs(f.RateError); name == "" || e > worst {
			worst, name = e, f.Name
		}
	}
	if name == "" {
		return
	}
	level, slack := results.Pass, rateSlack
	if j.kernel() {
		slack = kernelRateSlack
	}
	switch {
	case worst > rateInvalid:
		level = results.Invalid
	case worst > slack:
		level = results.Degraded
	}
	hint := ""
	if level != results.Pass {
		hint = "; a larger --dilation makes it less"
	}
	j.add("rounded rates", level, fmt.Sprintf("%.2g %% for full packets; INVALID beyond %.0f %%", 100*slack, 100*rateInvalid),
		"at most %.4f %% off (%s), %.4f %% for the smallest packets%s", 100*worst, name, 100*small, hint)
}

// departures: no captured port ever sent faster than its rate and burst.
func (j *judge) departures() {
	var worst, allowed units.Bytes
	share, name := -1.0, ""
	for _, r := range j.v.Captures {
		for _, q := range r.Ports {
			if len(q.Left) == 0 {
				continue
			}
			limit := j.burst(q.Port) + j.v.Fabric.FullFrame()
			over := q.Excess()
			if s := float64(over) / float64(limit); s > share {
				share, worst, allowed, name = s, over, limit, q.Port.Name
			}
		}
	}
	if name == "" {
		return
	}
	level := results.Pass
	if worst > allowed {
		level = results.Invalid
	}
	j.add("departures", level, fmt.Sprintf("%v: burst and one packet", allowed), "at most %v ahead of link rate (%s)", worst, name)
}

// agreement: samples of queues are what captures show.
func (j *judge) agreement() {
	var worst *results.Agreement
	ports := 0
	for i := range j.v.Agreements {
		a := &j.v.Agreements[i]
		if a.Samples == 0 {
			continue
		}
		ports++
		if worst == nil || a.Share() < worst.Share() || (a.Share() == worst.Share() && a.MaxPackets > worst.MaxPackets) {
			worst = a
		}
	}
	if worst == nil {
		return
	}
	level := results.Pass
	if worst.Share() < sampleShare {
		level = results.Degraded
	}
	missed := ""
	if j.v.Facts != nil && j.v.Facts.CaptureDrops > 0 {
		missed = "; the capture itself missed packets"
	}
	j.add("sampled queues", level, fmt.Sprintf("%.0f %% of samples within %d packets of the capture", 100*sampleShare, results.AgreeWithin),
		"%.2f %% of %d samples within %d packets, at most %d apart (%s, the worst of %d ports)%s",
		100*worst.Share(), worst.Samples, results.AgreeWithin, worst.MaxPackets, worst.Port, ports, missed)
}

//go:build linux

package real

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// stopGrace is how long host processes may take from "stop" to their report, by
// the wall clock.
const stopGrace = 5 * time.Second

// collectFabric reads what the machine has counted, and all ports' totals.
func (r *run) collectFabric() error {
	r.before.since(r.facts)
	stats := make([]port.Stats, len(r.topology.Ports))
	if err := r.fabric.PortStats(stats); err != nil {
		return err
	}
	links, err := r.fabric.LinkCounters()
	if err != nil {
		return err
	}
	for i := range stats {
		s := &stats[i]
		_, packets := s.Sent()
		drops, credits := s.Drops()
		full, smallest := r.fabric.RateErrors(topo.PortID(i))
		late := int64(0)
		if r.sentInTime != nil {
			late = s.SentWireBytes() - r.sentInTime[i].SentWireBytes()
		}
		r.facts.Ports = append(r.facts.Ports, emu.PortFacts{
			Name: r.topology.Ports[i].Name, Packets: packets, WireBytes: s.SentWireBytes(), LateBytes: late,
			Drops: drops, CreditDrops: credits, Marks: int64(s.Marked),
			RateError: full, SmallRateError: smallest, Stalls: r.sampler.stallsOf(topo.PortID(i)),
		})
		r.facts.LinkDrops += int64(links[i].ReceivedDropped)
	}
	return r.lostByLinks()
}

// collectHosts ends the hosts and turns their reports into facts.
func (r *run) collectHosts() error {
	err := errors.Join(r.compareClocksAgain(), r.stopHosts())
	var all, few clock.Lateness
	for _, p := range r.hosts {
		f := emu.HostFacts{Name: p.name}
		if rep := p.report; rep != nil {
			all.Merge(&rep.Lateness)
			if rep.Generator.Count() < emu.FewMessages {
				few.Merge(&rep.Generator)
			}
			f = hostFacts(p.name, rep)
			r.lostBy(p.host, rep.NIC.Cut)
			r.facts.ThreadCPU = max(r.facts.ThreadCPU, rep.CPU)
			r.facts.Reached = max(r.facts.Reached, rep.Reached)
		}
		f.Joined = p.joined.facts()
		r.facts.Hosts = append(r.facts.Hosts, f)
	}
	r.facts.Lateness, r.facts.FewMessages = latenessOf(&all), latenessOfFew(&few)
	return err
}

// stopHosts ends all host processes and keeps their reports. What went wrong before
// they were let go has been returned.
func (r *run) stopHosts() error {
	if !r.going {
		for _, p := range r.hosts {
			p.stop(time.Second)
		}
		return nil
	}
	for _, p := range r.hosts {
		p.send(node.CommandStop)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	var errs []error
	for _, p := range r.hosts {
		if p.failed == nil { // else measure has returned the error
			s, err := p.await(ctx, node.StateFinished)
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				errs = append(errs, fmt.Errorf("host %s did not answer within %v at the end, and was killed", p.name,
					stopGrace))
			case err != nil:
				errs = append(errs, err)
			default:
				p.report = s.Report
			}
		}
		p.stop(p.joined.grace())
	}
	if len(errs) > 3 {
		errs = append(errs[:3], fmt.Errorf("and %d more hosts", len(errs)-3))
	}
	return errors.Join(errs...)
}

// hostFacts are the totals of a host that has finished.
func hostFacts(name string, rep *node.Report) emu.HostFacts {
	return emu.HostFacts{
		Name: name, Finished: true, Kernel: rep.Kernel,
		Sent: rep.NIC.Sent, Received: rep.NIC.Received, RingDrops: rep.NIC.Drops,
		Corrupt: rep.NIC.Corrupt, Flipped: rep.NIC.Flipped, Foreign: rep.NIC.Foreign,
		Faults: int64(rep.Faults.Dropped), Extra: int64(rep.Faults.Duplicated),
		Lateness: latenessOf(&rep.Lateness), Generator: latenessOf(&rep.Generator),
		Stalls: &emu.Stalls{Total: rep.Stalled, Longest: rep.LongestStall},
	}
}

// latenessOf summarizes a histogram in nominal ns.
func latenessOf(l *clock.Lateness) emu.Lateness { return summary(l, 1) }

// latenessOfFew is latenessOf with the latest left out of all quantiles, if there are two.
func latenessOfFew(l *clock.Lateness) emu.Lateness {
	n := float64(l.Count())
	return summary(l, max(0, (n-1.5)/n)) // the rank of the last but one
}

// summary is of quantiles up to q.
func summary(l *clock.Lateness, q float64) emu.Lateness {
	at := func(p float64) units.Time { return units.Time(l.Quantile(min(p, q))) }
	return emu.Lateness{
		Count: int64(l.Count()), Median: at(0.5), P99: at(0.99), P999: at(0.999), Max: units.Time(l.Max()),
	}
}

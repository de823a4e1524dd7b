package model

import "sirdbed/emu"

// facts fills in what a simulation knows of its hosts and ports.
func (s *Sim) facts(f *emu.Facts) {
	f.Reached = s.Now()
	for _, h := range s.hosts {
		f.Hosts = append(f.Hosts, emu.HostFacts{
			Name: s.fabric.HostName(h.id), Sent: h.core.Counts().Sent, Received: h.stats.Received,
			Corrupt: h.stats.Corrupt, Foreign: h.stats.Foreign, Faults: h.stats.Faults, Extra: h.stats.Extra,
		})
	}
	for i := range s.ports {
		p := &s.ports[i]
		f.Ports = append(f.Ports, emu.PortFacts{
			Name: p.info.Name, Packets: p.stats.Packets, WireBytes: p.stats.WireBytes,
			Drops: p.stats.Drops, CreditDrops: p.stats.CreditDrops, Marks: p.stats.Marks, MaxQueue: p.queue.max,
			Lost: p.stats.Lost, Extra: p.stats.Extra,
		})
	}
}

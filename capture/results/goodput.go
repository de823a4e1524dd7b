package results

import (
	"fmt"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

const (
	// PayloadGauge is the gauge that every host has: payload bytes received for
	// the first time since the start of the run.
	PayloadGauge   = "payload_received"
	payloadCounter = "window_payload_received"
)

// Goodput is payload received for the first time within the measured window
// (scenarios/README, Goodput), over the window.
type Goodput struct {
	Gbps   float64            `json:"gbps"`           // per host, all hosts of the fabric counted
	Hosts  map[string]float64 `json:"hosts"`          // by receiver, in Gbps
	Source string             `json:"source"`         // what it was counted from
	Bytes  int64              `json:"bytes"`          // of all hosts
	Part   bool               `json:"part,omitempty"` // hosts are missing

	bytes []float64 // by HostID
}

// goodput takes the hosts' own counters, or where a host was killed before it
// wrote them its gauge, or else the messages delivered to it.
func (l *rawLogs) goodput(list []Message, from, to units.Time) Goodput {
	g := Goodput{Hosts: map[string]float64{}, Source: "counters", bytes: make([]float64, len(l.hosts))}
	for h := range l.hosts {
		log := &l.hosts[h]
		n, ok := log.counters[payloadCounter]
		value := float64(n)
		if l.isOpaque(topo.HostID(h)) {
			value = deliveredTo(list, topo.HostID(h), from, to)
		} else if !ok || !log.complete {
			if value, ok = l.payloadBetween(topo.HostID(h), from, min(to, log.end)); ok {
				g.Source = "gauges where counters are missing"
			} else {
				g.Source, g.Part = "messages where counters and gauges are missing", g.Part || !log.present
				value = deliveredTo(list, topo.HostID(h), from, to)
			}
		}
		g.bytes[h] = value
		g.Bytes += int64(value)
		g.Hosts[l.fabric.HostName(topo.HostID(h))] = Gbps(value, to-from)
	}
	g.Gbps = Gbps(float64(g.Bytes), to-from) / float64(len(l.hosts))
	return g
}

// Received is the payload in bytes that a host received for the first time
// within the measured window.
func (v *Variant) Received(h topo.HostID) float64 { return v.Goodput.bytes[h] }

func deliveredTo(list []Message, h topo.HostID, from, to units.Time) (sum float64) {
	for i := range list {
		if m := &list[i]; m.Dst == h && m.Delivered >= from && m.Delivered < to {
			sum += float64(m.Size)
		}
	}
	return sum
}

// payloadBetween returns the payload that a host received within a span, by
// its gauge.
func (l *rawLogs) payloadBetween(h topo.HostID, from, to units.Time) (float64, bool) {
	for i := range l.hosts[h].gauges {
		s := &l.hosts[h].gauges[i]
		if s.Gauge != PayloadGauge || len(s.Points) == 0 {
			continue
		}
		last := s.Points[len(s.Points)-1]
		start, ok := s.at(from)
		if !ok {
			return 0, false
		}
		stop, ok := s.at(to)
		if !ok {
			// The run ended between the last sample and the next one.
			if to-last.At > 2*l.x.GaugeEvery {
				return 0, false
			}
			stop = last.Value
		}
		return stop - start, true
	}
	return 0, false
}

// PayloadBetween returns the payload in bytes that a host received for the first
// time within a span, by its gauge. The error names what is missing.
func (v *Variant) PayloadBetween(h topo.HostID, from, to units.Time) (float64, error) {
	n, ok := v.logs.payloadBetween(h, from, to)
	if !ok {
		return 0, fmt.Errorf("%s has no samples of its gauge %s from %v to %v: gauge_every is %v",
			v.Fabric.HostName(h), PayloadGauge, from, to, v.Experiment.GaugeEvery)
	}
	return n, nil
}

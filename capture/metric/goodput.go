package metric

import (
	"fmt"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

var goodput = Descriptor{
	Name: "goodput_gbps",
	Doc: "Payload received for the first time, over the measured window or the span given: per host of the fabric, " +
		"or summed over the hosts given.",
	Unit:   "Gbps",
	Fields: []string{"host", "hosts", "from", "to"},
	eval:   (*Metric).goodput,
}

func (m *Metric) goodput(v *results.Variant) (float64, error) {
	if m.From != nil || m.To != nil {
		return m.goodputWithin(v)
	}
	if m.Host == "" && len(m.Hosts) == 0 {
		return v.Goodput.Gbps, nil
	}
	hosts, err := m.hosts(v)
	sum := 0.0
	for _, h := range hosts {
		sum += results.Gbps(v.Received(h), v.To-v.From)
	}
	return sum, err
}

// goodputWithin is the goodput of a part of the run, by the hosts' gauges.
func (m *Metric) goodputWithin(v *results.Variant) (float64, error) {
	if v.Folded {
		return 0, notKept(v, "goodput of parts of the window", "leave out from and to")
	}
	from, to, err := m.span(v)
	if err != nil {
		return 0, err
	}
	hosts, err := m.hosts(v)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, h := range hosts {
		n, err := v.PayloadBetween(h, from, to)
		if err != nil {
			return 0, err
		}
		sum += results.Gbps(n, to-from)
	}
	if m.Host == "" && len(m.Hosts) == 0 {
		sum /= float64(len(hosts))
	}
	return sum, nil
}

var offered = Descriptor{
	Name: "offered_gbps",
	Doc: "Payload that an unloaded fabric would have received in the window, per host of the fabric. A message " +
		"counts only as far as it would be under way within the window, so a large one near the end is not expected " +
		"to arrive.",
	Unit: "Gbps",
	eval: (*Metric).offered,
}

func (m *Metric) offered(v *results.Variant) (float64, error) {
	return v.OfferedGbps, nil
}

var delivered = Descriptor{
	Name: "delivered_gbps",
	Doc: "Payload of a stream's messages that were delivered in full within the window, over the window; of all " +
		"streams unless one is given.",
	Unit:   "Gbps",
	Fields: []string{"stream"},
	eval:   (*Metric).delivered,
}

func (m *Metric) delivered(v *results.Variant) (float64, error) {
	list, err := m.streams(v)
	sum := 0.0
	for _, s := range list {
		sum += s.DeliveredGbps
	}
	return sum, err
}

var share = Descriptor{
	Name: "share",
	Doc: "The share, from 0 to 1, that one host received of the payload that the hosts given received, over the " +
		"measured window or the span given.",
	Fields: []string{"host", "hosts", "from", "to"},
	Needs:  []string{"host"},
	eval:   (*Metric).share,
}

func (m *Metric) share(v *results.Variant) (float64, error) {
	if m.Host == "" {
		return 0, fmt.Errorf("host is missing: whose share?")
	}
	if v.Folded {
		return 0, notKept(v, "payload by time", "ask for goodput_gbps of the host")
	}
	h, err := hostOf(v, m.Host)
	if err != nil {
		return 0, err
	}
	from, to, err := m.span(v)
	if err != nil {
		return 0, err
	}
	among, err := (&Metric{Hosts: m.Hosts}).hosts(v)
	if err != nil {
		return 0, err
	}
	if !slices.Contains(among, h) {
		among = append(slices.Clone(among), h)
	}
	return shareOf(v, h, among, from, to)
}

// shareOf is the part of all payload that hosts received within a span that one
// of them received.
func shareOf(v *results.Variant, host topo.HostID, among []topo.HostID, from, to units.Time) (float64, error) {
	var own, all float64
	for _, h := range among {
		n, err := v.PayloadBetween(h, from, to)
		if err != nil {
			return 0, err
		}
		if all += n; h == host {
			own = n
		}
	}
	if all == 0 {
		return 0, fmt.Errorf("no payload arrived from %v to %v", from, to)
	}
	return own / all, nil
}

//go:build !portable

package main

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/sirdnode/endpoint"
	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A nodePage prints lines as an endpoint goes on, without keeping it from its packets: a
// terminal that takes none loses some.
type nodePage struct {
	lines chan string
	done  chan struct{}
}

// linesKept is how many lines may wait for the terminal.
const linesKept = 64

// newNodePage prints to standard output, or beside JSON to standard error.
func newNodePage(c *cobra.Command, beside bool) *nodePage {
	p := &nodePage{lines: make(chan string, linesKept), done: make(chan struct{})}
	w := c.OutOrStdout()
	if beside {
		w = c.ErrOrStderr()
	}
	go func() {
		defer close(p.done)
		for line := range p.lines {
			fmt.Fprintln(w, line)
		}
	}()
	return p
}

func (p *nodePage) print(line string) {
	select {
	case p.lines <- line:
	default:
	}
}

// close waits until all is printed.
func (p *nodePage) close() {
	close(p.lines)
	<-p.done
}

// tell has the page print what an endpoint tells.
func (p *nodePage) tell(c *endpoint.Config, second func(endpoint.Second) string) {
	c.Opened = func(i nexthop.Interface, known bool) {
		rate, why := i.Rate, ""
		switch {
		case c.Rate > 0:
			rate = c.Rate
		case !known:
			rate, why = endpoint.DefaultRate, " (its driver does not say: --rate)"
		}
		p.print(fmt.Sprintf("%s on %s, %v, %v%s", c.Protocol.Name, i.Name, i.Addr, rate, why))
	}
	c.Each = func(s endpoint.Second) { p.print(second(s)) }
}

// gbps is a rate with four digits.
func gbps(r units.BitsPerSecond) string {
	if r < units.Gbps/10 {
		return fmt.Sprintf("%.4g Mbps", float64(r)/1e6)
	}
	return fmt.Sprintf("%.4g Gbps", float64(r)/1e9)
}

// inMicros is a time in us with as many digits as matter.
func inMicros(t units.Time) string {
	us := t.Seconds() * 1e6
	if us < 100 {
		return fmt.Sprintf("%.1f us", us)
	}
	return fmt.Sprintf("%.0f us", us)
}

func clockOf(d time.Duration) string { return fmt.Sprintf("%4.0fs", d.Seconds()) }

// second is the line of a second in which this end has sent.
func (o *nodeLoad) second(s *endpoint.Second) string {
	line := fmt.Sprintf("%s  %s", clockOf(s.At), count(int(s.Latency.Count), "message"))
	if !o.answered {
		line = fmt.Sprintf("%s  %-11s  %s", clockOf(s.At), gbps(endpoint.Goodput(s.Sent, s.Span)),
			count(int(s.Latency.Count), "message"))
	}
	if s.Latency.Count > 0 {
		line += fmt.Sprintf("  p50 %s  p99 %s  max %s",
			inMicros(s.Latency.Median), inMicros(s.Latency.P99), inMicros(s.Latency.Max))
	}
	if s.UnderWay > 0 {
		line += fmt.Sprintf("  %d under way", s.UnderWay)
	}
	if s.Failed > 0 {
		line += fmt.Sprintf("  %d FAILED", s.Failed)
	}
	return line
}

// summary prints what a run has come to.
func (o *nodeLoad) summary(w io.Writer, r *endpoint.Report) {
	fmt.Fprintln(w)
	t, l := &r.Totals, &r.Latency
	var peers []string
	var there int64
	for i := range r.Peers {
		peers = append(peers, r.Peers[i].Addr.String())
		there += r.Peers[i].Counts.Messages
	}
	fmt.Fprintf(w, "%s to %s, %.2f s: %s sent, %d through, %d failed; %d arrived there\n", r.Protocol,
		strings.Join(peers, ", "), r.Time.Seconds(), count(int(t.Offered), "message"), l.Count, t.Failed, there)
	for _, reason := range r.Failures {
		fmt.Fprintf(w, "  failed: %s\n", reason)
	}
	what := "message"
	if o.answered {
		what = "round trip"
	} else {
		fmt.Fprintf(w, "goodput %s of a link of %v\n", gbps(r.Goodput), r.Rate)
	}
	if l.Count > 0 {
		fmt.Fprintf(w, "%s p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n", what, inMicros(l.Median), inMicros(l.P90),
			inMicros(l.P99), inMicros(l.P999), inMicros(l.Max))
	}
	frame := topo.WireBytes(r.MTU)
	bdp := max(1, (r.BDP+frame-1)/frame) * frame
	fmt.Fprintf(w, "credit loop p90 %s  p99.9 %s; p90 x %v = %d B: serve with --set sird.bdp=%dB\n",
		inMicros(r.Loop.Usual), inMicros(r.Loop.Tail), r.PeerRate, r.BDP, bdp)
	if n := r.DamagedPayload(); n > 0 {
		fmt.Fprintf(w, "DAMAGED payload in %s\n", count(int(n), "packet"))
	}
	if t.NIC.Drops > 0 {
		fmt.Fprintf(w, "%s dropped: this machine did not keep up\n", count(int(t.NIC.Drops), "received packet"))
	}
}

// came and left are the lines of peers that come and go.
func came(peer netip.Addr) string { return fmt.Sprintf("%v has come", peer) }

func left(v endpoint.Visit) string {
	line := fmt.Sprintf("%v has gone after %.1f s: %s, %s", v.Addr, v.Time.Seconds(),
		count(int(v.Counts.Messages), "message"), humanSize(v.Counts.Payload))
	if v.Counts.Mismatches > 0 {
		line += fmt.Sprintf(", DAMAGED payload in %s", count(int(v.Counts.Mismatches), "packet"))
	}
	if v.Error != "" {
		line += ": " + v.Error
	}
	return line
}

//go:build linux

package sockets

import (
	"testing"

	"sirdbed/baselines/tcp"
	"sirdbed/topo/units"
)

// README, Parameters: what is set in a host's namespace, by its name there.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		change func(*tcp.Params)
		name   string
		want   string // "": not set
	}{
		{func(*tcp.Params) {}, "ipv4/tcp_slow_start_after_idle", "1"},
		{func(p *tcp.Params) { p.SlowStartAfterIdle = false }, "ipv4/tcp_slow_start_after_idle", "0"},
		{func(*tcp.Params) {}, "ipv4/tcp_rto_min_us", ""},
		{func(p *tcp.Params) { p.MinRTO = 2 * units.Millisecond }, "ipv4/tcp_rto_min_us", "2000"},
		{func(*tcp.Params) {}, "ipv4/tcp_rmem", "4096\t131072\t6291456"},
		{func(*tcp.Params) {}, "ipv4/tcp_ecn", "2"},
		{func(p *tcp.Params) { p.CongestionControl = "dctcp" }, "ipv4/tcp_ecn", "1"},
	} {
		p := tcp.DefaultParams("cubic")
		c.change(p)
		got := ""
		for _, s := range settings(p) {
			if s[0] == c.name {
				got = s[1]
			}
		}
		if got != c.want {
			t.Errorf("%s is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCountsOfTheKernel(t *testing.T) {
	counts := map[string]int64{}
	parseCounts("Ip: Forwarding InReceives\nIp: 1 99\n"+
		"Tcp: RtoAlgorithm InSegs OutSegs RetransSegs InCsumErrors\nTcp: 1 12 13 1 0\n", counts)
	parseCounts("TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 4\nbroken: a b\nbroken: 1\n", counts)
	if counts["InSegs"] != 12 || counts["OutSegs"] != 13 || counts["TCPTimeouts"] != 4 || counts["InReceives"] != 0 {
		t.Errorf("%v", counts)
	}
}

//go:build linux

package sockets

import "testing"

func TestCountsOfTheKernel(t *testing.T) {
	counts := map[string]int64{}
	parseCounts("Ip: Forwarding InReceives\nIp: 1 99\n"+
		"Tcp: RtoAlgorithm InSegs OutSegs RetransSegs InCsumErrors\nTcp: 1 12 13 1 0\n", counts)
	parseCounts("TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 4\nbroken: a b\nbroken: 1\n", counts)
	if counts["InSegs"] != 12 || counts["OutSegs"] != 13 || counts["TCPTimeouts"] != 4 || counts["InReceives"] != 0 {
		t.Errorf("%v", counts)
	}
}

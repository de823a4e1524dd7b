//go:build linux

package sockets

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"sirdbed/baselines/tcp"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// settings returns the sysctls of the host's namespace, below /proc/sys/net.
func settings(p *tcp.Params) [][2]string {
	triple := func(b [3]units.Bytes) string { return fmt.Sprintf("%d\t%d\t%d", b[0], b[1], b[2]) }
	ecn := "2" // only if the other side requests it
	if p.ECN() {
		ecn = "1"
	}
	idle := "0"
	if p.SlowStartAfterIdle {
		idle = "1"
	}
	list := [][2]string{
		{"ipv4/tcp_rmem", triple(p.ReceiveBuffer)},
		{"ipv4/tcp_wmem", triple(p.SendBuffer)},
		{"ipv4/tcp_ecn", ecn},
		{"ipv4/tcp_timestamps", "1"}, // as overhead says
		{"ipv4/tcp_max_syn_backlog", strconv.Itoa(backlog)},
		{"core/somaxconn", strconv.Itoa(backlog)},
		{"ipv4/tcp_slow_start_after_idle", idle},
	}
	if p.MinRTO > 0 {
		list = append(list, [2]string{"ipv4/tcp_rto_min_us", strconv.FormatInt(int64(p.MinRTO/units.Microsecond), 10)})
	}
	return list
}

// prepare writes the settings that differ into the calling thread's namespace.
func (d *Driver) prepare() error {
	for _, s := range settings(&d.params) {
		path := "/proc/sys/net/" + s[0]
		now, err := os.ReadFile(path)
		if err == nil && string(bytes.TrimSpace(now)) == s[1] {
			continue
		}
		if err := os.WriteFile(path, []byte(s[1]), 0); err != nil {
			return fmt.Errorf("set sysctl: %w", err)
		}
	}
	return nil
}

// noteSettings adds the kernel's settings in force to the results, once for the
// whole fabric.
func (d *Driver) noteSettings() error {
	if d.env.Self != 0 {
		return nil
	}
	words := []string{d.params.CongestionControl}
	for _, name := range []string{
		"tcp_rmem", "tcp_wmem", "tcp_ecn", "tcp_slow_start_after_idle", "tcp_rto_min_us", "tcp_mem",
	} {
		value, err := os.ReadFile("/proc/sys/net/ipv4/" + name)
		// Not every kernel has these, and not every namespace shows them.
		optional := name == "tcp_mem" || name == "tcp_rto_min_us"
		if err != nil && !optional {
			return err
		}
		if err == nil {
			words = append(words, name+" "+strings.Join(strings.Fields(string(value)), " "))
		}
	}
	if n := d.params.InitialWindow; n > 0 {
		words = append(words, fmt.Sprintf("initcwnd %d", n))
	}
	d.env.Note(fmt.Sprintf("kernel TCP: %s; %d connections to each host", strings.Join(words, ", "),
		d.params.Connections))
	return nil
}

// reported are the kernel's counters that appear in results, by the kernel's names.
var reported = map[string]string{
	"RetransSegs": "retransmissions", "TCPTimeouts": "timeouts", "TCPMemoryPressures": "memory_pressures",
	"TCPRcvQDrop": "receive_buffer_drops", "TCPBacklogDrop": "backlog_drops", "ListenDrops": "connections_dropped",
	"TCPDeliveredCE": "segments_acked_marked", "TCPRcvCollapsed": "receive_buffer_collapses",
}

// Finish implements transport.Driver.
func (d *Driver) Finish() (c transport.DriverCounts, err error) {
	counts := map[string]int64{}
	for _, name := range []string{"snmp", "netstat"} {
		text, err := os.ReadFile("/proc/thread-self/net/" + name)
		if err != nil {
			return c, fmt.Errorf("counting segments: %w", err)
		}
		parseCounts(string(text), counts)
	}
	for _, name := range []string{"InSegs", "OutSegs", "RetransSegs", "InCsumErrors"} {
		if _, ok := counts[name]; !ok {
			return c, fmt.Errorf("counting segments: the kernel does not count %s", name)
		}
	}
	for kernel, name := range reported {
		if n := counts[kernel]; n > 0 {
			d.env.Sink.Count(&transport.Counter{Name: name}, int(n))
		}
	}
	// OutSegs leaves out retransmissions (RFC 4022).
	return transport.DriverCounts{
		Sent: counts["OutSegs"] + counts["RetransSegs"], Received: counts["InSegs"], Corrupt: counts["InCsumErrors"],
	}, nil
}

// parseCounts reads the TCP counters from /proc/net/snmp or /proc/net/netstat:
// pairs of lines, names and values.
func parseCounts(text string, counts map[string]int64) {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if len(names) == 0 || len(names) != len(values) || !slices.Contains([]string{"Tcp:", "TcpExt:"}, names[0]) {
			continue
		}
		for j := 1; j < len(names); j++ {
			if n, err := strconv.ParseInt(values[j], 10, 64); err == nil {
				counts[names[j]] = n
			}
		}
	}
}

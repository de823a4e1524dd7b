//go:build linux

package fabric

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"sirdbed/emu"
)

// CountKernelPackets returns how many packets the kernel of the calling thread's network
// namespace has sent into its links and taken from them for itself, by its own counters
// (RFC 4293, /proc/net/snmp). What it forwards, what passes raw sockets and what goes by
// lo is not among them. Fragments count one by one, as links see them.
func CountKernelPackets() (n emu.KernelPackets, err error) {
	ip, err := snmp("Ip")
	if err != nil {
		return n, err
	}
	looped, err := loopbackPackets()
	if err != nil {
		return n, err
	}
	n.Sent = ip["OutRequests"] - ip["FragOKs"] + ip["FragCreates"] - looped
	// Delivered or refused: a malformed packet has arrived all the same.
	n.Received = ip["InDelivers"] - ip["ReasmOKs"] + ip["ReasmReqds"] + ip["InHdrErrors"] + ip["InUnknownProtos"] +
		ip["InDiscards"] - looped
	return n, nil
}

// snmp reads the counters of a protocol, extendedSNMP those that Linux has added.
func snmp(protocol string) (map[string]int64, error) {
	return protocolCounters("/proc/thread-self/net/snmp", protocol)
}

func extendedSNMP(protocol string) (map[string]int64, error) {
	return protocolCounters("/proc/thread-self/net/netstat", protocol)
}

// protocolCounters reads a line of names, then one of values.
func protocolCounters(path, protocol string) (map[string]int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		fields, ok := strings.CutPrefix(line, protocol+": ")
		if !ok {
			continue
		}
		values := strings.Fields(fields)
		if names == nil {
			names = values
			continue
		}
		counters := map[string]int64{}
		for i, v := range values[:min(len(values), len(names))] {
			counters[names[i]], _ = strconv.ParseInt(v, 10, 64)
		}
		return counters, nil
	}
	return nil, fmt.Errorf("%s: no counters of %s", path, protocol)
}

// loopbackPackets counts what lo has received, which is what was sent by it.
func loopbackPackets() (int64, error) {
	const path = "/proc/thread-self/net/dev"
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		device, counters, _ := strings.Cut(strings.TrimSpace(line), ":")
		if f := strings.Fields(counters); device == "lo" && len(f) > 1 {
			return strconv.ParseInt(f[1], 10, 64) // bytes, packets, ...
		}
	}
	return 0, fmt.Errorf("%s: no lo", path)
}

//go:build linux

package fabric

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sirdbed/emu"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo/units"
)

// CountKernelPackets returns how many packets the kernel of the calling thread's network
// namespace has sent into its links and taken from them for itself, by its own counters
// (RFC 4293, /proc/net/snmp). What it forwards, what passes raw sockets and what goes by
// lo is not among them; bytes are with what it forwards. Fragments count one by one, as
// links see them.
func CountKernelPackets() (n emu.KernelPackets, err error) {
	ip, err := counters("snmp", "Ip")
	if err != nil {
		return n, err
	}
	octets, err := counters("netstat", "IpExt")
	if err != nil {
		return n, err
	}
	looped, loopedBytes, err := loopbackPackets()
	if err != nil {
		return n, err
	}
	n.SentBytes = units.Bytes(octets["OutOctets"] - loopedBytes)
	n.Sent = ip["OutRequests"] - ip["FragOKs"] + ip["FragCreates"] - looped
	// Delivered or refused: a malformed packet has arrived all the same.
	n.Received = ip["InDelivers"] - ip["ReasmOKs"] + ip["ReasmReqds"] + ip["InHdrErrors"] + ip["InUnknownProtos"] +
		ip["InDiscards"] - looped
	return n, nil
}

// counters reads the counters of a protocol from a file of /proc/net: a line of names,
// then one of values.
func counters(file, protocol string) (map[string]int64, error) {
	path := "/proc/thread-self/net/" + file
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
		found := map[string]int64{}
		for i, v := range values[:min(len(values), len(names))] {
			found[names[i]], _ = strconv.ParseInt(v, 10, 64)
		}
		return found, nil
	}
	return nil, fmt.Errorf("%s: no counters of %s", path, protocol)
}

// loopbackPackets counts what lo has received, which is what was sent by it: packets, and
// their bytes from the IP header on.
func loopbackPackets() (packets, bytes int64, err error) {
	const path = "/proc/thread-self/net/dev"
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		device, counters, _ := strings.Cut(strings.TrimSpace(line), ":")
		if f := strings.Fields(counters); device == "lo" && len(f) > 1 {
			bytes, errB := strconv.ParseInt(f[0], 10, 64)
			packets, errP := strconv.ParseInt(f[1], 10, 64)
			return packets, bytes - packets*int64(wire.EthernetLen), errors.Join(errB, errP)
		}
	}
	return 0, 0, fmt.Errorf("%s: no lo", path)
}

package main

import (
	"fmt"
	"io"
	"net"

	"sirdbed/scenarios"
)

// DeviceInfo is a host in topo --json that is a device of this machine.
type DeviceInfo struct {
	Host   string `json:"host"`
	Device string `json:"device"`
	MAC    string `json:"mac,omitempty"` // "" where this machine has no such device
	// PeerCommands configure the other end of the cable, whose interface is $DEV.
	PeerCommands []string `json:"peer_commands"`
}

// deviceInfos describes the hosts that are devices, and what their other ends need.
func deviceInfos(s *scenarios.Scenario) (list []DeviceInfo) {
	f := s.Fabric()
	for _, spec := range s.Hosts {
		h, _ := f.Host(spec.Name) // Load checks it
		info := DeviceInfo{Host: spec.Name, Device: spec.Device}
		if link, err := net.InterfaceByName(spec.Device); err == nil {
			info.MAC = link.HardwareAddr.String()
		}
		if spec.Join {
			info.PeerCommands = []string{
				fmt.Sprintf("ip link set $DEV mtu %d up", f.Spec.MTU),
				fmt.Sprintf("sirdbed node join ADDRESS --interface $DEV --host %s --token TOKEN", spec.Name),
			}
			list = append(list, info)
			continue
		}
		own, leaf := f.KernelAddr(h), f.Nodes[f.LeafOf(h)].Addr
		info.PeerCommands = []string{
			fmt.Sprintf("ip link set $DEV mtu %d up", f.Spec.MTU),
			fmt.Sprintf("ip address add %v/32 dev $DEV", own),
			fmt.Sprintf("ip route add 10.250.0.0/16 via %v dev $DEV onlink src %v", leaf, own),
		}
		if info.MAC != "" {
			info.PeerCommands = append(info.PeerCommands,
				fmt.Sprintf("ip neighbor replace %v lladdr %s dev $DEV nud permanent", leaf, info.MAC))
		}
		list = append(list, info)
	}
	return list
}

// printDevices prints what is to be configured at the other ends of devices' cables.
func printDevices(w io.Writer, s *scenarios.Scenario) {
	for _, d := range deviceInfos(s) {
		fmt.Fprintf(w, "\n%s is the device %s of this machine. "+
			"At the other end of its cable, whose interface is $DEV:\n", d.Host, d.Device)
		for _, command := range d.PeerCommands {
			fmt.Fprintf(w, "  %s\n", command)
		}
	}
}

//go:build linux

package fabric

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/device"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo/units"
)

const (
	otherKernel = "use a kernel with it: most distributions' have (perhaps as a module: modprobe), and so has the " +
		"virtual engine's (sirdbed run --engine virtual)"
	moreRights = "run as root, or where user namespaces work let sirdbed make its own"
)

// probes lists the features, those that others need first.
var probes = []probe{
	{Feature{Name: FeatureUserNS, Use: "runs without root", Option: "CONFIG_USER_NS",
		Remedy: "run as root, use the virtual engine, or allow them as the error says"}, tryUserNamespace},
	{Feature{Name: FeatureNetNS, Use: "every host and switch", Option: "CONFIG_NET_NS", Remedy: moreRights},
		inThrowaway(func() error { return nil })},
	{Feature{Name: FeatureRaw, Use: "hosts", Option: "CONFIG_PACKET, CAP_NET_RAW", Remedy: moreRights},
		inThrowaway(tryRawSocket)},
	{Feature{Name: FeatureRings, Use: "hosts and captures", Option: "CONFIG_PACKET with mmap", Remedy: otherKernel},
		inThrowaway(tryRing)},
	{Feature{Name: FeatureVeth, Use: "links", Option: "CONFIG_VETH", Remedy: otherKernel}, request(tryVeth)},
	{Feature{Name: FeatureHTB, Use: "link rates and priorities", Option: "CONFIG_NET_SCH_HTB", Remedy: otherKernel},
		request(tryPort(port.Config{}))},
	{Feature{Name: FeatureU32, Use: "priorities", Option: "CONFIG_NET_CLS_U32", Remedy: otherKernel},
		request(tryPort(port.Config{Priorities: port.MaxPriorities}))},
	{Feature{Name: FeaturePrio, Use: "priorities that are strict", Option: "CONFIG_NET_SCH_PRIO",
		Remedy: "HTB's classes take its place, where one packet of each may go out of turn, once a minute; else " +
			otherKernel},
		request(tryPort(port.Config{Priorities: port.MaxPriorities, Levels: emu.PrioBands}))},
	{Feature{Name: FeatureFIFO, Use: "queues, and ExpressPass's credit queue", Option: "CONFIG_NET_SCH_FIFO",
		Remedy: otherKernel},
		request(tryPort(port.Config{Credit: port.Credit{Share: 0.05}}))},
	{Feature{Name: FeatureMultipath, Use: "several spines", Option: "CONFIG_IP_ROUTE_MULTIPATH", Remedy: otherKernel},
		request(tryMultipath)},
	{Feature{Name: FeatureHashSeed, Use: "runs that choose the same paths",
		Option: "Linux 6.11 (net." + hashSeedName + ")",
		Remedy: "nothing breaks: paths differ from run to run"}, inThrowaway(tryHashSeed)},
	{Feature{Name: FeatureRED, Use: "ECN marking", Option: "CONFIG_NET_SCH_RED",
		Remedy: "the eBPF marker takes its place where it works; else " + otherKernel},
		request(tryPort(port.Config{Mark: 30 * units.Kilobyte}))},
	{Feature{Name: FeatureMarker, Use: "ECN marking without red",
		Option: "CONFIG_BPF_SYSCALL, CONFIG_NET_CLS_BPF, and root outside user namespaces",
		Remedy: "run as root; not needed where red works"}, inThrowaway(tryMarker)},
	{Feature{Name: FeatureNetem, Use: "serialization and delay in the kernel", Option: "CONFIG_NET_SCH_NETEM",
		Remedy: "receiving hosts delay packets instead; for kernel TCP " + otherKernel}, request(tryNetem)},
	{Feature{Name: FeatureIFB, Use: "serialization and delay in the kernel", Option: "CONFIG_IFB",
		Remedy: "receiving hosts delay packets instead; for kernel TCP " + otherKernel}, request(tryIFB)},
	{Feature{Name: FeatureRedirect, Use: "serialization and delay in the kernel",
		Option: "CONFIG_NET_SCH_INGRESS, CONFIG_NET_ACT_MIRRED",
		Remedy: "receiving hosts delay packets instead; for kernel TCP " + otherKernel}, request(tryRedirect)},
	{Feature{Name: FeatureTCX, Use: "devices as hosts",
		Option: "CONFIG_BPF_SYSCALL, CONFIG_NET_XGRESS (Linux 6.6), and root outside user namespaces",
		Remedy: "for devices run as root; without TCX filters (cls_bpf) take its place, which sirdbed clean removes " +
			"where a killed run has left them"}, inThrowaway(device.TryLinks)},
}

// tryPort builds a port at the loopback interface.
func tryPort(c port.Config) func(*rtnl.Batch) error {
	c.Rate = 100 * units.Mbps
	return func(b *rtnl.Batch) error { return c.Install(b, rtnl.Loopback, "lo") }
}

func tryVeth(b *rtnl.Batch) error {
	b.Request("add link veth", "", unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, rtnl.Link(0, 0, 0))
	b.Nest(unix.IFLA_LINKINFO, nil, func() { b.String(unix.IFLA_INFO_KIND, "veth") })
	return nil
}

func tryIFB(b *rtnl.Batch) error {
	b.Request("add link ifb", "", unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, rtnl.Link(0, 0, 0))
	b.String(unix.IFLA_IFNAME, "probe")
	b.Nest(unix.IFLA_LINKINFO, nil, func() { b.String(unix.IFLA_INFO_KIND, "ifb") })
	return nil
}

func tryNetem(b *rtnl.Batch) error {
	port.Wire{Rate: units.Gbps, Delay: 1000}.Serialize(b, rtnl.Loopback, "lo")
	return nil
}

func tryRedirect(b *rtnl.Batch) error {
	port.Redirect(b, rtnl.Loopback, "lo", rtnl.Loopback)
	return nil
}

// tryMultipath asks for the layer-4 hash and a route with two next hops.
func tryMultipath(b *rtnl.Batch) error {
	if err := writeSysctl("ipv4/fib_multipath_hash_policy", "1"); err != nil {
		return err
	}
	b.LinkUp(rtnl.Loopback, "lo")
	b.Request("add route with two next hops", "lo", unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Route(8, 0))
	b.Attr(unix.RTA_DST, []byte{10, 0, 0, 0})
	b.Nest(unix.RTA_MULTIPATH, nil, func() {
		for host := range byte(2) {
			b.Append(rtnl.NextHop(rtnl.Loopback, unix.RTNH_F_ONLINK, [4]byte{10, 0, 0, host + 1}))
		}
	})
	return nil
}

func tryHashSeed() error { return writeSysctl(hashSeedPath, "1") }

func tryMarker() error {
	m, err := port.NewMarkers(rtnl.Loopback, 1)
	if err != nil {
		return err
	}
	defer m.Close()
	return carryOut(func(b *rtnl.Batch) error {
		return m.Install(b, rtnl.Loopback, "lo", port.Config{Rate: units.Gbps, Mark: 30 * units.Kilobyte})
	})
}

func tryRawSocket() error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket AF_PACKET", err)
	}
	return unix.Close(fd)
}

func tryRing() error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket AF_PACKET", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
		return os.NewSyscallError("setsockopt PACKET_VERSION", err)
	}
	block := uint32(os.Getpagesize())
	for _, ring := range []int{unix.PACKET_RX_RING, unix.PACKET_TX_RING} {
		req := unix.TpacketReq{Block_size: block, Block_nr: 1, Frame_size: block, Frame_nr: 1}
		if err := unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, ring, &req); err != nil {
			return fmt.Errorf("setsockopt ring %d: %w", ring, err)
		}
	}
	return nil
}

package topo_test

import (
	"fmt"
	"log"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Two racks below two spines: names, addresses, the path of a packet, and how
// long a message takes over it when nothing else does.
func ExampleNew() {
	f, err := topo.New(topo.Spec{
		Leaves: 2, HostsPerLeaf: 3, Spines: 2,
		HostRate: 100 * units.Gbps, HostDelay: units.Microsecond,
		CoreRate: 400 * units.Gbps, CoreDelay: units.Microsecond,
	})
	if err != nil {
		log.Fatal(err)
	}
	src, _ := f.Host("h1-1")
	dst, _ := f.Host("h2-3")
	for _, port := range f.Path(src, dst, 2) {
		fmt.Println(f.Ports[port].Name, f.Ports[port].Rate)
	}
	fmt.Println("over any spine:", f.HostAddr(dst, 0), "over spine 2:", f.HostAddr(dst, 2))
	fmt.Println("10 KB:", f.UnloadedExact(src, dst, 10*units.Kilobyte, topo.Framing{MSS: 1440, Overhead: 60}))
	fmt.Println("BDP:", f.BDP())
	// Output:
	// h1-1>leaf1 100Gbps
	// leaf1>spine2 400Gbps
	// spine2>leaf2 400Gbps
	// leaf2>h2-3 100Gbps
	// over any spine: 10.0.2.3 over spine 2: 10.2.2.3
	// 10 KB: 5.039us
	// BDP: 103.046KB
}

// What is impossible is named as in the scenario file.
func ExampleSpec_Validate() {
	spec := topo.Spec{Leaves: 2, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond}
	fmt.Println(spec.Validate())
	// Output:
	// spines: 2 leaves with no spine cannot reach one another: add spines, or use one leaf
}

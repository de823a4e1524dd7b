//go:build linux

package fabric

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// BenchmarkFabric builds and closes the paper's fabric of 144 hosts and larger ones, and
// reports the medians of how long each takes (ms-up, ms-down; cpu-ms-up on a processor), how long the
// kernel goes on freeing it (ms-freed: a veth plugged into the last namespace
// goes with it), and what one sample of all switches takes (us-sample).
func BenchmarkFabric(b *testing.B) {
	nstest.RequireNetAdmin(b)
	nstest.Lock(b)
	for _, size := range []struct{ leaves, hosts, spines int }{{9, 16, 4}, {20, 25, 8}, {40, 25, 8}} {
		spec := paperSpec
		spec.Leaves, spec.HostsPerLeaf, spec.Spines = size.leaves, size.hosts, size.spines
		b.Run(fmt.Sprint("hosts=", size.leaves*size.hosts), func(b *testing.B) { benchmarkFabric(b, spec) })
	}
}

func benchmarkFabric(b *testing.B, spec topo.Spec) {
	topology, err := topo.New(spec)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		network transport.Network
	}{
		{"plain", transport.Network{}},
		{"sird", transport.Network{Priorities: 2, MarkCore: 125000}},
		{"homa", transport.Network{Priorities: 8}},
		{"xpass", transport.Network{CreditClass: true, CreditQueue: 8, CreditShare: 0.05}},
	} {
		b.Run(c.name, func(b *testing.B) {
			mine := nstest.Namespace(b)
			h := mine.Handle(b)
			stats := make([]port.Stats, len(topology.Ports))
			times := map[string][]float64{}
			// timed notes how long work takes, in units of the given length.
			timed := func(name string, unit time.Duration, work func() error) {
				began := time.Now()
				if err := work(); err != nil {
					b.Fatal(err)
				}
				times[name] = append(times[name], float64(time.Since(began))/float64(unit))
			}
			for b.Loop() {
				var f *Fabric
				used := processorTime()
				timed("ms-up", time.Millisecond, func() (err error) {
					f, err = Build(context.Background(), topology, Config{Dilation: 8000, Network: c.network})
					return err
				})
				times["cpu-ms-up"] = append(times["cpu-ms-up"], float64(processorTime()-used)/float64(time.Millisecond))
				timed("us-sample", time.Microsecond, func() error { return f.Sample(stats) })
				last := topo.NodeID(len(topology.Nodes) - 1)
				err := h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "plug"}, PeerName: "plug",
					PeerNamespace: netlink.NsFd(f.NamespaceFD(last))})
				if err != nil {
					b.Fatal(err)
				}
				timed("ms-freed", time.Millisecond, func() error {
					timed("ms-down", time.Millisecond, f.Close)
					for range 10000 {
						if _, err := h.LinkByName("plug"); err != nil {
							break
						}
						time.Sleep(time.Millisecond)
					}
					return nil
				})
				// The kernel has its own work to finish before the next fabric.
				time.Sleep(200 * time.Millisecond)
			}
			for name, list := range times {
				slices.Sort(list)
				b.ReportMetric(list[len(list)/2], name)
			}
		})
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

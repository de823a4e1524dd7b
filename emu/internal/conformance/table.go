package conformance

import (
	"fmt"

	"sirdbed/topo/units"
)

const (
	full     = 1514 // bytes of a frame with an MTU of 1500
	shortest = 46   // Ethernet, IPv4, UDP, and the packet's number or checksum
	minimal  = 60   // Ethernet's least
)

// burst makes n frames alike.
func burst(n int, f Frame) []Frame {
	list := make([]Frame, n)
	for i := range list {
		list[i] = f
	}
	return list
}

// number gives frames their ids.
func number(lists ...[]Frame) (all []Frame) {
	for _, list := range lists {
		all = append(all, list...)
	}
	for i := range all {
		all[i].ID = uint32(i)
	}
	return all
}

// eachLevel is a prelude with a packet of every level.
func eachLevel(levels int) (list []Frame) {
	for p := range levels {
		list = append(list, Frame{Length: full, Precedence: uint8(p)})
	}
	return number(list)
}

// Cases are marks, order, drops, credits and rates, with 1, 2 and 8 levels.
func Cases() (list []Case) {
	list = append(list, marks()...)
	list = append(list, order()...)
	list = append(list, limits()...)
	list = append(list, credits()...)
	return append(list, rates()...)
}

// marks are bursts against several steps: exactly one packet, a byte more, ...
func marks() (list []Case) {
	for _, levels := range []int{1, 2, 8} {
		for _, step := range []units.Bytes{1, full, full + 1, 30000, 20 * full, 100000} {
			for _, precedence := range []uint8{0, 7} {
				list = append(list, Case{
					Name: fmt.Sprintf("marks at %d, %d levels, precedence %d", step, levels, precedence),
					Rate: 100 * units.Mbps, Priorities: levels, Mark: step,
					Burst: number(burst(100, Frame{Length: full, Precedence: precedence, ECT: true})),
				})
			}
		}
		// Each is marked for the bytes of all levels, and what may not be marked counts.
		var mixed []Frame
		for i := range 160 {
			mixed = append(mixed, Frame{Length: 600 + 300*(i%4), Precedence: uint8(i % 8), ECT: i%5 > 0})
		}
		list = append(list, Case{
			Name: fmt.Sprintf("marks of all precedences and sizes, %d levels", levels),
			Rate: 100 * units.Mbps, Priorities: levels, Mark: 12000, Prelude: eachLevel(levels), Burst: number(mixed),
		})
	}
	return append(list, Case{
		Name: "no marks of packets that may not be", Rate: 100 * units.Mbps, Priorities: 1, Mark: full,
		Burst: number(burst(50, Frame{Length: full})),
	})
}

// order is packets of all precedences, the least urgent first.
func order() (list []Case) {
	for _, levels := range []int{1, 2, 8} {
		var all []Frame
		for p := range uint8(8) {
			all = append(all, burst(10, Frame{Length: full - 100*int(p), Precedence: p})...)
		}
		list = append(list, Case{
			Name: fmt.Sprintf("order, %d levels", levels),
			Rate: 100 * units.Mbps, Priorities: levels, Prelude: eachLevel(levels), Burst: number(all),
		})
	}
	return list
}

// limits are queues that overflow, to the byte.
func limits() (list []Case) {
	for _, levels := range []int{1, 2, 8} {
		for _, room := range []int{1, 10, 33, 97} {
			for _, less := range []int{0, 1} {
				c := Case{
					Name: fmt.Sprintf("a queue of %d packets less %d bytes, %d levels", room, less, levels),
					Rate: 100 * units.Mbps, Priorities: levels, Limit: units.Bytes(room*full - less),
					Prelude: eachLevel(levels),
				}
				for p := range uint8(levels) {
					c.Burst = append(c.Burst, burst(room+3, Frame{Length: full, Precedence: p})...)
				}
				c.Burst = number(c.Burst)
				if less > 0 && room == 1 {
					continue // nothing fits: bfifo and RED differ in what they then do
				}
				list = append(list, c)
			}
		}
	}
	return list
}

// credits are floods of the credit class, at nearly the link's rate, as they
// come over a link: HTB lets a class with tokens go without the link's leave, so
// that credits which come in no time would leave in no time.
func credits() (list []Case) {
	for _, levels := range []int{1, 2, 8} {
		for _, room := range []int{8, 3} {
			list = append(list, Case{
				Name: fmt.Sprintf("a credit queue of %d, %d levels", room, levels),
				Rate: 100 * units.Mbps, Priorities: levels, Share: 0.05, Credits: room,
				Burst:   number(burst(40, Frame{Length: minimal, Precedence: 7, Credit: true})),
				Spacing: 7 * units.Microsecond,
			})
		}
	}
	return list
}

// rates are spacings: wire rates, of packets of all sizes.
func rates() (list []Case) {
	for _, levels := range []int{1, 2, 8} {
		for _, rate := range []units.BitsPerSecond{10 * units.Mbps, 100 * units.Mbps, 400 * units.Mbps} {
			for _, length := range []int{full, 1000, shortest} {
				list = append(list, Case{
					Name: fmt.Sprintf("%d bytes at %v, %d levels", length, rate, levels),
					Rate: rate, Priorities: levels, Prelude: eachLevel(levels),
					Burst: number(burst(50, Frame{Length: length})),
				})
			}
		}
	}
	return list
}

package units_test

import (
	"fmt"
	"log"

	"sirdbed/topo/units"
)

// How long a message occupies a link.
func Example() {
	rate, err := units.ParseRate("100Gbps")
	if err != nil {
		log.Fatal(err)
	}
	size, err := units.ParseBytes("1.5MB")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rate.TimeFor(size), rate.BytesIn(8*units.Microsecond))
	// Output:
	// 120us 100KB
}

// A span of nominal time by the clock of a kernel that runs 500 times slower.
func ExampleDilation_ToKernel() {
	fmt.Println(units.Dilation(500).ToKernel(2*units.Microsecond), "ns")
	// Output:
	// 1000000 ns
}

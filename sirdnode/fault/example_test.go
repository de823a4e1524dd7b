package fault_test

import (
	"fmt"
	"log"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo/units"
)

// What happens to the first frames that host 3 receives in the run of seed 1.
func ExampleShim() {
	shim, err := fault.New(fault.Config{Drop: 0.2, Reorder: 0.2, ReorderDelay: 5 * units.Microsecond}, fault.Seed(1, 3))
	if err != nil {
		log.Fatal(err)
	}
	for i := range 10 {
		switch v := shim.Next(1514); {
		case v.Drop:
			fmt.Println("frame", i, "is lost")
		case v.Delay > 0:
			fmt.Println("frame", i, "comes", v.Delay, "later")
		}
	}
	fmt.Printf("%+v\n", shim.Counters())
	// Output:
	// frame 3 comes 2.654us later
	// frame 5 comes 4.305us later
	// frame 6 is lost
	// frame 9 comes 218ns later
	// {Frames:10 Dropped:1 Duplicated:0 Delayed:3 Corrupted:0}
}

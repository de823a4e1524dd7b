package scenarios_test

import (
	"fmt"
	"log"

	"sirdbed/scenarios"
)

// A scenario in the binary, changed as by --set, and what an engine is to run.
func ExampleLoad() {
	change, err := scenarios.ParseChange("protocol=homa")
	if err != nil {
		log.Fatal(err)
	}
	s, err := scenarios.Load("quickstart", change)
	if err != nil {
		log.Fatal(err)
	}
	experiments, err := s.Experiments(scenarios.Options{Seed: 7})
	if err != nil {
		log.Fatal(err)
	}
	for _, x := range experiments {
		fmt.Println(x.Scenario, x.Protocol, "seed", x.Seed, "until", x.End())
	}
	// Output:
	// quickstart homa seed 7 until 11ms
}

// What is wrong in a file is reported with its place.
func ExampleParse() {
	_, err := scenarios.Parse("my.yaml", ".", []byte(`name: my
topology: {leaves: 1, hosts_per_leaf: 2, host_rate: 100Gbps, host_delay: 1us}
traffic:
  - {name: bulk, pattern: fixed, size: 1MB, intervall: 1ms}
duration: 1ms
`))
	fmt.Println(err)
	// Output:
	// my.yaml:4:45: unknown key "intervall" in traffic item: did you mean "interval"?
	//     4 |   - {name: bulk, pattern: fixed, size: 1MB, intervall: 1ms}
	//       |                                             ^
}

package all_test

import (
	"encoding/json"
	"fmt"
	"log"

	"sirdbed/baselines/all"
	"sirdbed/baselines/dctcp"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A protocol by name, with its parameters as a scenario changes them.
func ExampleDecodeParams() {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	protocol, err := all.Find("dctcp")
	if err != nil {
		log.Fatal(err)
	}
	params, err := all.DecodeParams(protocol, f, json.RawMessage(`{"k": "60KB"}`))
	if err != nil {
		log.Fatal(err)
	}
	p := params.(*dctcp.Params)
	fmt.Println("k:", p.K, "gain:", p.Gain)

	_, err = all.DecodeParams(protocol, f, json.RawMessage(`{"kk": "60KB"}`))
	fmt.Println(err)
	// Output:
	// k: 60KB gain: 0.08
	// parameters of dctcp: json: unknown field "kk"
}

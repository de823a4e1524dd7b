package param_test

import (
	"cmp"
	"fmt"

	"sirdbed/sirdnode/transport/param"
)

// A protocol's parameters name the first that cannot work.
func Example() {
	gain, ecn := 0.08, "some"
	fmt.Println(cmp.Or(
		param.InRange("gain", gain, 0, 1),
		param.OneOf("ecn", ecn, "core", "all", "none"),
	))
	// Output:
	// ecn is "some": want one of ["core" "all" "none"]
}

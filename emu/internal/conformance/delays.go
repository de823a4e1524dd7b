package conformance

// A RoundTrip is what a full packet and the answer to it take over idle links of
// the paper's simulated fabric: serialization at every hop (store and forward)
// and propagation.
type RoundTrip struct {
	Name   string
	Across bool // to the other rack, else within
	Reply  int  // bytes of the answer's frame
	PS     int64
}

// RoundTrips are 5.5 us in the rack and 7.5 us across in the paper's parameter
// table.
var RoundTrips = []RoundTrip{
	{"MSS answered by MSS in the rack", false, full, 5_492_160},
	{"MSS answered by MSS across", true, full, 7_615_200},
	{"MSS answered by 84 B in the rack", false, minimal, 5_259_520},
	{"MSS answered by 84 B across", true, minimal, 7_324_400},
}

package tcp

import (
	"encoding/json"
	"strings"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// rack is a rack of hosts at 100 Gbps.
func rack(t testing.TB, hosts int) *topo.Fabric {
	t.Helper()
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps,
		HostDelay: units.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func named(t testing.TB, name string) transport.Protocol {
	t.Helper()
	for _, p := range Protocols {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no protocol %s", name)
	return transport.Protocol{}
}

func TestParametersThatCannotWorkAreNamed(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct{ protocol, params, want string }{
		{"tcp", `{"congestion_control": "Cubic!"}`, "congestion_control"},
		{"tcp-cubic", `{"congestion_control": "bbr"}`, "use the protocol tcp"},
		{"tcp-cubic", `{"connections": 0}`, "connections is 0"},
		{"tcp-cubic", `{"connections": 257}`, "connections is 257"},
		{"tcp-cubic", `{"tcp_rmem": ["4096B", "8KB", "5KB"]}`, "tcp_rmem is [4096, 8000, 5000]"},
		{"tcp-cubic", `{"tcp_wmem": ["1B", "1024B", "1MB"]}`, "tcp_wmem is"},
		{"tcp-cubic", `{"tcp_wmem": ["4096B", "16KB", "4GB"]}`, "tcp_wmem is"},
		{"tcp-cubic", `{"tcp_rto_min": "2s"}`, "tcp_rto_min is 2s"},
		{"tcp-cubic", `{"tcp_rto_min": "10ns"}`, "tcp_rto_min is 10ns"},
		{"tcp-cubic", `{"initcwnd": -1}`, "initcwnd is -1"},
		{"tcp-cubic", `{"initcwnd": 65537}`, "initcwnd is 65537"},
		{"tcp-dctcp", `{"initcwnd": 66, "tcp_rto_min": "200us", "tcp_slow_start_after_idle": false}`, ""},
		{"tcp-cubic", `{"k": "inf"}`, ""},
		{"tcp", `{"congestion_control": "vegas", "tcp_rmem": ["4096B", "4096B", "4096B"]}`, ""},
	} {
		p := named(t, c.protocol)
		params := p.DefaultParams(f)
		if err := json.Unmarshal([]byte(c.params), params); err != nil {
			t.Fatal(err)
		}
		err := p.CheckDriver(params)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v", c.protocol, c.params, err)
		}
	}
}

// Switches mark for DCTCP, at 1.25 BDP as for our own, and for no other
// congestion control unless a parameter is set; hosts negotiate ECN only then.
func TestOnlyDCTCPHasPortsMark(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		protocol, params string
		k                units.Bytes
		ecn              bool
	}{
		{"tcp-cubic", `{}`, 0, false}, {"tcp-bbr", `{}`, 0, false}, {"tcp-reno", `{}`, 0, false},
		{"tcp", `{}`, 0, false},
		{"tcp-dctcp", `{}`, 125_000, true}, {"tcp", `{"congestion_control": "dctcp"}`, 125_000, true},
		{"tcp-dctcp", `{"k": "30KB"}`, 30_000, true}, {"tcp-dctcp", `{"k": "inf"}`, 0, true},
		{"tcp-cubic", `{"k": "30KB"}`, 30_000, true},
	} {
		p := named(t, c.protocol)
		params := p.DefaultParams(f).(*Params)
		if err := json.Unmarshal([]byte(c.params), params); err != nil {
			t.Fatal(err)
		}
		if n := p.Network(f, params); n.MarkCore != c.k || n.MarkEdge != c.k || n.Priorities != 1 ||
			params.ECN() != c.ecn {
			t.Errorf("%s %s: %+v, ECN %v", c.protocol, c.params, n, params.ECN())
		}
	}
}

// A segment has 52 bytes besides its payload: IP 20, TCP 20, timestamps 12.
func TestFraming(t *testing.T) {
	if f := Framing(1500); f.MSS != 1448 || f.Wire(f.MSS) != 1538 {
		t.Errorf("%+v, %d bytes on the wire", f, f.Wire(f.MSS))
	}
}

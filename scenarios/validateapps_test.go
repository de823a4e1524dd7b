package scenarios

import (
	"strings"
	"testing"

	"sirdbed/topo/units"
)

const withApps = `name: x
topology: {leaves: 1, hosts_per_leaf: 2, host_rate: 10Gbps, host_delay: 2us}
duration: 1s
apps:
  - {host: h1-2, run: [iperf3, -s], ready: port 5201, name: server}
  - {host: h1-1, run: [iperf3, -c, h1-2], after: [server]}
`

// Programs may take the place of traffic; what they are called, and the queues of their
// fabric, have defaults.
func TestAppsHaveDefaults(t *testing.T) {
	s, err := Parse("f.yaml", ".", []byte(withApps))
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Experiments(Options{})
	if err != nil || len(x) != 1 || len(x[0].Apps) != 2 || x[0].Apps[1].Name != "iperf3-h1-1" {
		t.Fatalf("got %+v, %v; want two apps, the second named after program and host", x, err)
	}
	if x[0].GaugeEvery != 0 || x[0].QueueEvery != units.Millisecond {
		t.Errorf("gauges every %v, queues every %v; want none of gauges, and 1ms", x[0].GaugeEvery, x[0].QueueEvery)
	}
	never := strings.Replace(withApps, "after:", "restart: no, after:", 1)
	if _, err := Parse("f.yaml", ".", []byte(never)); err != nil {
		t.Errorf("restart: no is refused: %v", err)
	}
	for queue, want := range map[string]units.Bytes{
		"": ProgramsQueue, "queue_limit: inf\n": 0, "queue_limit: 5KB\n": 5000,
	} {
		s, err := Parse("f.yaml", ".", []byte(withApps+queue))
		if err != nil || s.QueueLimit != want {
			t.Errorf("%q: got %v, %v; want %v", queue, s.QueueLimit, err, want)
		}
	}
}

// What is wrong with a program is found at its place.
func TestAppsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"no such host", "host: h1-2", "host: h1-9", `f.yaml:5:12: no host is called "h1-9": hosts are h1-1 to h1-2`},
		{"nothing to run", "run: [iperf3, -s]", "run: []", `run has 0: want 1 to 1000 items: it is a command line`},
		{"an empty program", "run: [iperf3, -s]", `run: ["", -s]`, "missing: want the program and its arguments"},
		{"name", "name: server", "name: Server", `"Server": want small letters, digits, dots and dashes`},
		{"the same name", "run: [iperf3, -c, h1-2]", "name: server, run: [x]", `app 1 is called "server" too`},
		{"after nobody", "after: [server]", "after: [serve]",
			`f.yaml:6:51: no app is called "serve": did you mean "server"?`},
		{"after itself", "ready: port 5201", "after: [iperf3-h1-1]", "waits for itself, by way of others"},
		{"ready", "ready: port 5201", "ready: soon", "want port N, file PATH, output REGEXP, exit or started"},
		{"port", "ready: port 5201", "ready: port 0", "want port 1 to port 65535"},
		{"expect", "after: [server]", "expect: success", "want exit 0 to exit 255, or any"},
		{"restart", "after: [server]", "restart: always", `"always" is not one of no, on-failure`},
		{"restarts of none", "after: [server]", "restarts: 3",
			"it is never started again: want restart: on-failure with it"},
		{"timeout", "after: [server]", "timeout: 1us", "timeout is 1us: want 1ms to 10800s"},
		{"unknown key", "after: [server]", "afer: [server]", `did you mean "after"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(withApps, c.old, c.new, 1)
			if text == withApps {
				t.Fatalf("%q is not in the file", c.old)
			}
			if got := firstLine(t, text); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

package scenarios

import (
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/topo/units"
)

// withHosts is a scenario whose fourth host is a device.
const withHosts = `name: x
topology: {leaves: 1, hosts_per_leaf: 4, host_rate: 1Gbps, host_delay: 1us}
hosts:
  - {name: h1-4, device: enp3s0f1, peer_mac: "52:54:00:12:34:56", force: true}
traffic:
  - {name: a, pattern: fixed, from: [h1-1], to: [h1-2, h1-4], size: 8B, interval: 40us}
  - {name: b, pattern: fixed, from: [h1-1], to: [h1-2], size: 8B, interval: 40us, reply: 8B}
duration: 1ms
`

// firstExperiment is that of a scenario's text.
func firstExperiment(t *testing.T, text string) *emu.Experiment {
	t.Helper()
	s, err := Parse("f.yaml", ".", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Experiments(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &list[0]
}

// A device is a host of every experiment, at dilation 1.
func TestHostsThatAreDevices(t *testing.T) {
	x := firstExperiment(t, withHosts)
	want := emu.HostSpec{Name: "h1-4", Device: "enp3s0f1", PeerMAC: "52:54:00:12:34:56", Force: true}
	if got, ok := x.Device("h1-4"); got != want || !ok {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, ok := x.Device("h1-1"); ok || x.Dilation != units.Dilation(1) {
		t.Errorf("h1-1 is a device: %v, dilation %d; want it none, and 1", ok, x.Dilation)
	}
	for _, engine := range []emu.EngineName{emu.Model, emu.Virtual} {
		if err := emu.NoDevices(x, engine); err == nil || !strings.Contains(err.Error(), "--engine real") {
			t.Errorf("%s: got %v, want an error that names the engine real", engine, err)
		}
	}
}

// A peer that joins sends and answers as any other host.
func TestHostsThatJoinMaySendAndAnswer(t *testing.T) {
	text := strings.NewReplacer(`peer_mac: "52:54:00:12:34:56", force: true`, "join: true",
		"from: [h1-1], to: [h1-2, h1-4]", "from: [h1-4], to: [h1-1]", "to: [h1-2], size", "to: [h1-4], size").
		Replace(withHosts)
	x := firstExperiment(t, text)
	if got := x.Joining(); len(got) != 1 || got[0] != "h1-4" || x.Opaque("h1-4") || x.AnyOpaque() {
		t.Errorf("%v join, and some are opaque: %v", got, x.AnyOpaque())
	}
}

func TestHostsThatCannotBeDevices(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"no such host", "name: h1-4", "name: h1-5", `f.yaml:4:12: no host is called "h1-5": hosts are h1-1 to h1-4`},
		{"no device", "device: enp3s0f1, ", "", `f.yaml:4:5: hosts[0].device: device has 0: want 1 to 15 characters: ` +
			`Linux has no longer names of interfaces`},
		{"long name", "enp3s0f1", "enp3s0f1enp3s0f1", `f.yaml:4:26: device has 16: want 1 to 15 characters: ` +
			`Linux has no longer names of interfaces`},
		{"path", "enp3s0f1", "../eth0", `f.yaml:4:26: "../eth0" cannot be an interface: want a name that ip link or ` +
			`sirdbed devices shows`},
		{"MAC", "52:54:00:12:34:56", "52:54:00:12:34:5g", `f.yaml:4:46: "52:54:00:12:34:5g": want the MAC address of ` +
			`one interface, such as 52:54:00:12:34:56`},
		{"MAC of many", "52:54:00:12:34:56", "53:54:00:12:34:56", `f.yaml:4:46: "53:54:00:12:34:56": want the MAC ` +
			`address of one interface, such as 52:54:00:12:34:56`},
		{"a host twice", "hosts:", "hosts:\n  - {name: h1-4, device: eth1}", `f.yaml:5:12: h1-4 is there twice`},
		{"a device twice", "hosts:", "hosts:\n  - {name: h1-3, device: enp3s0f1}",
			`f.yaml:5:26: enp3s0f1 is h1-3 already: a device is one host`},
		{"dilation", "duration:", "dilation: 2\nduration:",
			`f.yaml:8:11: 2, and h1-4 is a device, whose clock cannot be stretched: want 1, or leave it out`},
		{"sender", "from: [h1-1], to: [h1-2, h1-4]", "from: [h1-4], to: [h1-2]",
			`f.yaml:6:31: h1-4 is the device enp3s0f1, and sirdbed runs nothing behind it that could send or ` +
				`answer: a stream from it needs its peer to join the run (join: true, and sirdbed node join there). ` +
				`Or name the hosts that send (from), and those that answer (to)`},
		{"one that answers", "to: [h1-2], size", "to: [h1-4], size",
			`f.yaml:7:31: h1-4 is the device enp3s0f1, and sirdbed runs nothing behind it that could send or ` +
				`answer: a stream from it needs its peer to join the run (join: true, and sirdbed node join there). ` +
				`Or name the hosts that send (from), and those that answer (to)`},
		{"address of one that joins", "force: true", "join: true",
			`f.yaml:4:46: h1-4 joins, and says itself what its address is: leave it out`},
		{"program", "duration:", "apps: [{host: h1-4, run: [iperf3, -s]}]\nduration:",
			`f.yaml:8:15: h1-4 is a device: programs there are started at the other end of its cable, not by the run`},
		{"unknown key", "force: true", "forced: true",
			`f.yaml:4:67: unknown key "forced" in host item: did you mean "force"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(withHosts, c.old, c.new, 1)
			if text == withHosts {
				t.Fatalf("%q is not in the file", c.old)
			}
			if got := firstLine(t, text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

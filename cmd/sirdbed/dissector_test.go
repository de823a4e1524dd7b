package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/sirdnode/wire/dissector"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// allProtocols is traffic and losses under which protocols send most of their types of packets.
const allProtocols = `name: protocols
topology: {leaves: 2, hosts_per_leaf: 2, spines: 1, host_rate: 100Gbps, core_rate: 100Gbps, host_delay: 1us}
protocols: [sird, homa, dcpim, xpass, swift, dctcp, aimd]
traffic:
  - {name: large, pattern: fixed, from: [h1-1, h1-2], to: [h2-1], size: 300KB, interval: 150us, stop: 300us}
  - {name: small, pattern: fixed, from: [h1-1], to: [h2-1], size: 8B, interval: 20us, reply: 8B, stop: 300us}
duration: 400us
drain: 10ms
faults: {drop: 0.02}
capture: [leaf1, h2-1]
`

// runModel runs a scenario on the model and returns the result's directory.
func runModel(t *testing.T, scenario string, args ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	file := dir + ".yaml"
	must(t, os.WriteFile(file, []byte(scenario), 0o666))
	var stdout, stderr bytes.Buffer
	args = append([]string{"run", file, "--engine", "model", "--out", dir}, args...)
	if code := execute(t.Context(), args, &stdout, &stderr); code != exitFine {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	return dir
}

// requireTshark returns tshark's path.
func requireTshark(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("tshark")
	if err != nil && os.Getenv("SIRDBED_REQUIRE_TSHARK") == "1" {
		t.Fatal("tshark is not installed, and SIRDBED_REQUIRE_TSHARK=1")
	}
	if err != nil {
		t.Skip("tshark is not installed")
	}
	return path
}

// Wireshark's dissector and the decoders agree on every field of every packet, of every protocol, and most types of
// packets are there to compare. Of each type some with arbitrary fields are compared too.
func TestDissectorAgreesWithDecoders(t *testing.T) {
	t.Parallel()
	tshark := requireTshark(t)
	dir := runModel(t, allProtocols)
	script := filepath.Join(t.TempDir(), dissectorFile)
	var text bytes.Buffer
	must(t, dissector.Write(&text, wireProtocols()))
	must(t, os.WriteFile(script, text.Bytes(), 0o666))
	for _, p := range all.List() {
		if p.Wire.Port == 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			seen := map[string]int{}
			for _, node := range []string{"leaf1", "h2-1"} {
				variant := filepath.Join(dir, "variants", p.Name)
				path := filepath.Join(variant, filepath.FromSlash(emu.CaptureFile(node)))
				compareWithTshark(t, tshark, script, p.Wire, fabricAt(t, variant), path, seen)
			}
			if len(seen) < 2 || 2*len(seen) < len(p.Wire.Header.Types) {
				t.Errorf("only %v are compared: the test tests little", seen)
			}
			t.Logf("compared %v", seen)
			f, path := arbitrary(t, p.Wire)
			clear(seen)
			compareWithTshark(t, tshark, script, p.Wire, f, path, seen)
			if len(seen) != len(p.Wire.Header.Types) {
				t.Errorf("of arbitrary packets only %v are compared", seen)
			}
		})
	}
}

// fabricAt returns the fabric of a variant in a result.
func fabricAt(t *testing.T, variant string) *topo.Fabric {
	t.Helper()
	var x emu.Experiment
	text, err := os.ReadFile(filepath.Join(variant, emu.ExperimentFile))
	must(t, err)
	must(t, json.Unmarshal(text, &x))
	f, err := topo.New(x.Topology)
	must(t, err)
	return f
}

// arbitrary makes a capture of packets with arbitrary headers of each type of a protocol.
func arbitrary(t *testing.T, p wire.Protocol) (f *topo.Fabric, path string) {
	t.Helper()
	f, w, path := newCapture(t)
	rng := rand.New(rand.NewPCG(1, uint64(p.Port)))
	for _, kind := range p.Header.Types {
		for made := 0; made < 20; {
			header := make([]byte, transport.MaxHeader)
			for i := range header {
				header[i] = byte(rng.Uint32())
			}
			header[0] = p.Header.Version<<4 | kind.Value
			if rng.IntN(2) == 0 {
				header[1] &= 3 // such as a number of ranges
			}
			n, err := p.HeaderLen(header)
			if err != nil {
				continue
			}
			made++
			b := encoded(f, p.Port, header[:n], rng.IntN(100))
			must(t, w.Packet(f.Downlink(1), units.Time(made), true, len(b), b))
		}
	}
	must(t, w.Close())
	return f, path
}

// newCapture begins the capture of the switch of a rack.
func newCapture(t *testing.T) (*topo.Fabric, *capture.Writer, string) {
	t.Helper()
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: units.Gbps, HostDelay: units.Microsecond})
	must(t, err)
	path := filepath.Join(t.TempDir(), "leaf1.pcapng")
	file, err := os.Create(path)
	must(t, err)
	w, err := capture.Create(file, f, &f.Nodes[f.Downlink(0).Node])
	must(t, err)
	return f, w, path
}

// encoded returns a frame from the first host to the second.
func encoded(f *topo.Fabric, port uint16, header []byte, payload int) []byte {
	x := wire.Frame{SrcAddr: f.HostAddr(0, 0), DstAddr: f.HostAddr(1, 0), Port: port, Header: header,
		Payload: make([]byte, payload)}
	b := make([]byte, x.Len())
	x.Encode(b)
	return b
}

// compareWithTshark compares what tshark says of a capture with what the decoders do, and counts packets by type.
func compareWithTshark(
	t *testing.T, tshark, script string, p wire.Protocol, f *topo.Fabric, path string, seen map[string]int,
) {
	t.Helper()
	node := filepath.Base(path)
	names := []string{"version", "type"}
	for _, field := range p.Header.Fields {
		if !slices.Contains(names, field.Name) {
			names = append(names, field.Name)
		}
	}
	if p.Header.Version == 0 {
		names = names[1:]
	}
	last := []string{"_ws.col.Protocol", "_ws.col.Info", "_ws.expert"}
	const own = 4 // columns before names
	args := []string{"-X", "lua_script:" + script, "-r", path, "-n", "-T", "fields", "-E", "separator=|",
		"-o", filterName(p, "check_crc:TRUE")}
	columns := []string{"crc32c", "crc32c.status", "payload_length", "payload"}
	for _, name := range append(columns, names...) {
		args = append(args, "-e", filterName(p, name))
	}
	for _, name := range last {
		args = append(args, "-e", name)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), tshark, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), "Lua") {
		t.Fatalf("tshark: %v: %s", err, &stderr)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")

	file, err := os.Open(path)
	must(t, err)
	n := 0
	for fr, err := range capture.Frames(file, f) {
		must(t, err)
		if n >= len(lines) {
			t.Fatalf("tshark has %d packets of %s", len(lines), node)
		}
		got := strings.Split(lines[n], "|")
		n++
		header := fr.Data[wire.HeaderOffset:]
		kind := p.Header.Type(header)
		if kind == nil || len(got) != own+len(names)+len(last) {
			t.Fatalf("%s, packet %d: type %+v, tshark says %q", node, n, kind, got)
		}
		seen[kind.Name]++
		length := p.Header.Len(kind, header)
		ip := fr.Data[wire.EthernetLen:]
		payload := int(binary.BigEndian.Uint16(ip[2:])) - (wire.HeaderOffset - wire.EthernetLen) - length
		kept := min(len(header)-length, payload)
		status := "1"
		if kept < payload {
			status = "2"
		}
		crc := binary.BigEndian.Uint32(fr.Data[wire.HeaderOffset-wire.CRCLen:])
		want := map[string]string{
			"crc32c": fmt.Sprintf("0x%08x", crc), "crc32c.status": status, "payload_length": fmt.Sprint(payload),
			"payload": fmt.Sprintf("%x", header[length:length+kept]),
			"version": fmt.Sprint(p.Header.Version), "type": fmt.Sprint(kind.Value),
		}
		info := []string{kind.Name}
		for _, v := range p.Header.Values(header) {
			if want[v.Name] != "" {
				want[v.Name] += ","
			}
			want[v.Name] += v.String()
			switch {
			case v.Flag() && v.N != 0:
				info = append(info, v.Name)
			case v.Told():
				info = append(info, v.Name+"="+v.String())
			}
		}
		if kind.Data {
			info = append(info, fmt.Sprintf("payload=%d", payload))
		}
		for i, name := range append(columns, names...) {
			is := strings.NewReplacer("False", "0", "True", "1").Replace(got[i]) // of newer versions
			if is != want[name] {
				t.Fatalf("%s, packet %d, a %s: tshark says %s is %q, want %q", node, n, kind.Name, name, is, want[name])
			}
		}
		texts := []string{p.Name, strings.Join(info, " "), ""}
		if is := got[own+len(names):]; !slices.Equal(is, texts) {
			t.Fatalf("%s, packet %d: tshark says %q, want %q", node, n, is, texts)
		}
	}
	if n != len(lines) || n == 0 {
		t.Errorf("%s has %d packets, tshark says %d", node, n, len(lines))
	}
}

// The dissector finds what is damaged, cut off, and of no type.
func TestDissectorOfBadPackets(t *testing.T) {
	tshark := requireTshark(t)
	script := filepath.Join(t.TempDir(), dissectorFile)
	var text bytes.Buffer
	must(t, dissector.Write(&text, wireProtocols()))
	must(t, os.WriteFile(script, text.Bytes(), 0o666))
	f, w, path := newCapture(t)
	credit := []byte{0x12, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 1}
	frame := func(header []byte, change func(b []byte) []byte) {
		b := encoded(f, sird.Port, header, 0)
		length := len(b)
		if change != nil {
			b = change(b)
		}
		must(t, w.Packet(f.Downlink(1), 1, true, length, b))
	}
	frame(credit, nil)
	frame(credit, func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	frame(credit, func(b []byte) []byte { return b[:len(b)-3] })
	frame(credit[:9], nil)
	frame(append([]byte{0x1f}, credit[1:]...), nil)
	frame(append([]byte{0x22}, credit[1:]...), nil)
	frame(nil, nil)
	must(t, w.Close())
	out, err := exec.CommandContext(t.Context(), tshark, "-X", "lua_script:"+script, "-r", path, "-n", "-T", "fields",
		"-o", "sird.check_crc:TRUE", "-E", "separator=|", "-e", "sird.crc32c.status", "-e", "sird.credit",
		"-e", "_ws.expert.message").Output()
	must(t, err)
	want := "1|9|\n0|9|CRC32C does not match\n2|9|header is cut off\n1||header is cut off\n" +
		"1||unknown version or type\n1||unknown version or type\n||header is cut off\n"
	if string(out) != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestDissectorIsInstalledWhereWiresharkLooks(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	install := func(args ...string) (string, int) {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), append([]string{"dissector", "install"}, args...), &stdout, &stderr)
		return stdout.String() + stderr.String(), code
	}
	expect := func(dir, says string, want int, args ...string) {
		t.Helper()
		file := filepath.Join(dir, dissectorFile)
		out, code := install(args...)
		if code != want || !strings.Contains(out, file) || !strings.Contains(out, says) {
			t.Errorf("exit code %d, says %q; want %d, and %q of %s", code, out, want, says, file)
		}
	}
	local := filepath.Join(home, ".local", "lib", "wireshark", "plugins")
	expect(local, "installed", exitFine)
	expect(local, "is up to date", exitFine)
	file := filepath.Join(local, dissectorFile)
	must(t, os.WriteFile(file, []byte(dissector.Mark+"of another version"), 0o666))
	expect(local, "replaced", exitFine)
	expect(local, "is up to date", exitFine)
	if tshark, err := exec.LookPath("tshark"); err == nil {
		out, err := exec.CommandContext(t.Context(), tshark, "-G", "fields").Output()
		if err != nil || !strings.Contains(string(out), "\tsird.credit\t") {
			t.Errorf("tshark (%v) does not know sird.credit", err)
		}
	}

	must(t, os.WriteFile(file, []byte("-- my own"), 0o666))
	expect(local, "not sirdbed's", exitBadInput)
	must(t, os.Remove(file))
	must(t, os.Symlink(filepath.Join(home, "elsewhere"), file))
	expect(local, "choose another directory", exitBadInput)
	if _, err := os.Lstat(filepath.Join(home, "elsewhere")); err == nil {
		t.Error("a link was followed")
	}

	config := filepath.Join(home, ".config", "wireshark", "plugins")
	must(t, os.MkdirAll(config, 0o777))
	expect(config, "installed", exitFine)
	own := filepath.Join(home, "own")
	expect(own, "installed", exitFine, "--dir", own)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filterName is a field's name in Wireshark's filters.
func filterName(p wire.Protocol, field string) string { return strings.ToLower(p.Name) + "." + field }

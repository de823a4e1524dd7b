package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/emu/tree"
)

func TestHumanSizes(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 KB", 9994: "9.99 KB", 9995: "10.0 KB", 31_613_456: "31.6 MB",
		99_949: "99.9 KB", 99_950: "100 KB", 999_499: "999 KB", 999_500: "1.00 MB",
		2e9: "2.00 GB", 5e15: "5.00 PB", 5e18: "5000 PB",
	} {
		if got := humanSize(bytes); got != want {
			t.Errorf("%d: got %s, want %s", bytes, got, want)
		}
	}
}

// estimated are scenarios whose results are filled by different things.
var estimated = map[string]string{
	"messages": `name: messages
topology:
  {leaves: 2, hosts_per_leaf: 4, spines: 1, host_rate: 100Gbps, core_rate: 400Gbps, host_delay: 1us, core_delay: 500ns}
traffic: [{name: a, pattern: fixed, size: 1KB, rate: 20Gbps, reply: 8B}]
duration: 1ms
`,
	"gauges": `name: gauges
topology: {leaves: 1, hosts_per_leaf: 16, host_rate: 100Gbps, host_delay: 1us}
protocol: homa
traffic: [{name: a, pattern: poisson, sizes: wkc, load: 0.3}]
sample: {gauges: 1us}
duration: 2ms
`,
	"captures": `name: captures
topology:
  {leaves: 2, hosts_per_leaf: 3, spines: 2, host_rate: 100Gbps, core_rate: 400Gbps, host_delay: 1us, core_delay: 500ns,
   mtu: 9KB}
traffic: [{name: a, pattern: poisson, sizes: wkc, load: 0.5}]
capture: [leaf1, h1-2, spine1, "leaf2>h2-1", "spine2>leaf2"]
duration: 4ms
`,
	"whole packets, by DCTCP": `name: whole
topology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Gbps, host_delay: 1us}
protocol: dctcp
traffic: [{name: a, pattern: outcast, from: [h1-1], to: [h1-2, h1-3], size: 100KB}]
capture: [leaf1]
snap_len: inf
duration: 1ms
`,
}

func TestEstimatesAreGoodToAFactorOfTwo(t *testing.T) {
	for name, scenario := range estimated {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			file := filepath.Join(temp, "x.yaml")
			if err := os.WriteFile(file, []byte(scenario), 0o666); err != nil {
				t.Fatal(err)
			}
			r, err := prepare(file, runOptions{engine: "model", out: filepath.Join(temp, "out"), json: true})
			if err != nil {
				t.Fatal(err)
			}
			r.stdout, r.stderr = io.Discard, io.Discard
			want, err := r.checkDisk()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.run(t.Context()); err != nil && exitCode(err) != exitInvalid {
				t.Fatal(err)
			}
			dir, err := tree.Open(r.dir.Path())
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			got := sizeOf(dir)
			t.Logf("%s, estimated as %s", humanSize(got), humanSize(want))
			if got > 2*want || want > 2*got {
				t.Errorf("got %s, want about %s", humanSize(got), humanSize(want))
			}
		})
	}
}

func TestRunLooksAtTheDiskFirst(t *testing.T) {
	defer func() { freeSpace = diskSpace }()
	for _, c := range []struct {
		name string
		free func(size int64) int64
		err  error  // of the file system
		want string // of the warning
	}{
		{"room", func(size int64) int64 { return size }, nil, ""},
		{"perhaps too little", func(size int64) int64 { return size - 1 }, nil,
			"warning: the disk may be full before this run ends: it writes about 10.7 MB (samples of gauges "},
		{"too little", func(size int64) int64 { return size/2 - 1 }, nil,
			"warning: the disk will be full before this run ends: it writes about 10.7 MB (samples of gauges "},
		{"unknown", func(int64) int64 { return 0 }, errors.ErrUnsupported, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "none", "there")
			r, err := prepare("incast", runOptions{engine: "model", out: out, variants: []string{"srpt"}})
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			r.stderr = &stderr
			freeSpace = diskSpace
			size, err := r.checkDisk()
			if err != nil {
				t.Fatal(err)
			}
			asked := ""
			freeSpace = func(dir string) (int64, error) { asked = dir; return c.free(size), c.err }
			if _, err = r.checkDisk(); err != nil {
				t.Error(err)
			}
			if want := filepath.Dir(filepath.Dir(out)); asked != want {
				t.Errorf("asked for the file system of %s, want %s", asked, want)
			}
			if got := stderr.String(); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

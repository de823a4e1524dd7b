//go:build linux && !portable

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Points of the engine virtual are made, kept, and found again where there is no kernel:
// those of a sweep, and kernel TCP's of a reproduction whose other points are the model's.
func TestPointsOfTheVirtualEngine(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	sirdbed := func(kernel bool, args ...string) string {
		t.Helper()
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		if !kernel {
			cmd.Env = append(os.Environ(), kernelVar+"="+filepath.Join(dir, "none"))
		}
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		return string(text)
	}
	for _, c := range []struct {
		args         []string
		first, again string // of what is printed
	}{
		{[]string{"sweep", "virtual.yaml", "--engine", "virtual", "--points", "p"}, ": done in ", " in p\n\n"},
		{
			[]string{"reproduce", "fig3", "--scale", "smoke", "--points", "q"},
			"loaded-tcp-cubic tcp-cubic: done in ", "5 of them in q",
		},
	} {
		if got := sirdbed(true, append(c.args, "--out", "first-"+c.args[0])...); !strings.Contains(got, c.first) {
			t.Errorf("%v: no %q in\n%s", c.args, c.first, got)
		}
		got := sirdbed(false, append(c.args, "--out", "again-"+c.args[0])...)
		if !strings.Contains(got, c.again) || strings.Contains(got, "done in") || strings.Contains(got, "left out") {
			t.Errorf("%v, again: no %q in\n%s", c.args, c.again, got)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "again-reproduce", "comparison.json"))
	if err != nil {
		t.Fatal(err)
	}
	compared := ComparedPaper{}
	if err := json.Unmarshal(text, &compared); err != nil {
		t.Fatal(err)
	}
	const median = "tcp-cubic/testbed/incast/size=8b/receiver=saturated/p50_latency_us"
	if v := compared.Measured[median]; v.Number <= 16 || compared.Missing != 0 {
		t.Errorf("kernel TCP's median is %v us, %d points are missing", v.Number, compared.Missing)
	}
}

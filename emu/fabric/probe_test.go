//go:build linux

package fabric

import (
	"errors"
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/sirdnode/nstest"
)

// What is missing is named with what it takes and what to do, and matches
// ErrNotSupported; what works needs no remedy.
func TestProbesExplainThemselves(t *testing.T) {
	nstest.Lock(t)
	seen := map[string]bool{}
	for _, f := range Probes() {
		if seen[f.Name] || f.Use == "" || f.Option == "" {
			t.Errorf("got %+v, want a name of its own, a use and an option", f)
		}
		seen[f.Name] = true
		if f.Err == nil {
			if f.Remedy != "" {
				t.Errorf("%s works, and yet: %s", f.Name, f.Remedy)
			}
			continue
		}
		t.Logf("%s: %v; %s", f.Name, f.Err, f.Remedy)
		if !errors.Is(f.Err, emu.ErrNotSupported) || f.Remedy == "" {
			t.Errorf("%s: got %v, remedy %q; want ErrNotSupported with a remedy", f.Name, f.Err, f.Remedy)
		}
	}
}

// A process without rights is told so, not that the kernel lacks everything.
func TestProbesWithoutRights(t *testing.T) {
	if Probe(FeatureNetNS).Err == nil {
		t.Skip("network namespaces can be made here")
	}
	for _, name := range []string{FeatureHTB, FeatureRED} {
		f := Probe(name)
		if !errors.Is(f.Err, errNoNamespace) || !strings.Contains(f.Remedy, "first") {
			t.Errorf("%s: got %v, remedy %q; want %v, and what comes first", name, f.Err, f.Remedy, errNoNamespace)
		}
	}
}

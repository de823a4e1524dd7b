package verdict

import (
	"regexp"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo"
)

// lacks is what an engine does not have, so that it is no advice there.
var lacks = map[emu.EngineName]*regexp.Regexp{
	emu.Model: regexp.MustCompile(`dilation|kernel|processor|less to do|quiet|another|interfaces|sysctl|net\.core` +
		`|--engine model|was too slow|clock|ring|standard error|lateness`),
	emu.Virtual: regexp.MustCompile(`less to do|quiet|another (machine|time|program)|processors` +
		`|--engine virtual|was too slow|clocks|machine with|net\.core`),
	emu.Real: regexp.MustCompile(`guest|virtual clock|--engine real`),
}

// madeOf reports whether a check is made of some run of an engine.
func madeOf(c *Check, engine emu.EngineName) bool {
	for _, finished := range []bool{true, false} {
		j := judge{v: &results.Variant{Fabric: &topo.Fabric{}, Facts: &emu.Facts{Engine: engine,
			Hosts: []emu.HostFacts{{Name: "h1-1", Finished: finished}}}}}
		if c.Made.of(&j) {
			return true
		}
	}
	return false
}

// Advice names nothing that the engine does not have, and no check that is not made
// on it.
func TestAdviceFitsTheEngine(t *testing.T) {
	for _, c := range Checks() {
		for _, engine := range emu.EngineNames {
			if !madeOf(&c, engine) {
				continue
			}
			t.Run(c.Name+"/"+string(engine), func(t *testing.T) {
				advice := c.Advice(engine)
				if !strings.HasSuffix(advice, ".") {
					t.Errorf("it is no sentence: %q", advice)
				}
				if bad := lacks[engine].FindString(advice); bad != "" {
					t.Errorf("%q names %q", advice, bad)
				}
				ofRates := c.Name == roundedRates.Name || c.Name == kernelTimers.Name
				if engine == emu.Virtual && !ofRates && strings.Contains(advice, "dilation") {
					t.Errorf("%q names the dilation, which changes nothing but rates and kernel TCP's timers", advice)
				}
				for _, other := range Checks() {
					if len(other.Name) > 5 && strings.Contains(advice, other.Name) && !madeOf(&other, engine) {
						t.Errorf("%q names the check %s, which is not made", advice, other.Name)
					}
				}
				if !strings.Contains(strings.Join(c.Page(), "\n"), advice) {
					t.Errorf("the page on the check lacks %q", advice)
				}
			})
		}
	}
}

// There is no advice for a check that does not exist, or is not made.
func TestAdviceIsOfChecksThatAreMade(t *testing.T) {
	for engine, list := range adviceOn {
		left := len(list)
		for _, c := range Checks() {
			if _, ok := list[c.Name]; ok && madeOf(&c, engine) {
				left--
			}
		}
		if left > 0 {
			t.Errorf("%d on %s are of no check that is made", left, engine)
		}
	}
}

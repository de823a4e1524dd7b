package metric

import (
	"strings"
	"testing"

	"sirdbed/topo/units"
)

func TestParse(t *testing.T) {
	m, err := Parse("goodput_gbps,hosts=h1-1+h1-2,from=2ms,to=3ms")
	if err != nil || m.Name != "goodput_gbps" || len(m.Hosts) != 2 || *m.From != 2*units.Millisecond ||
		*m.To != 3*units.Millisecond {
		t.Errorf("%+v, %v", m, err)
	}
	for _, f := range Fields {
		var x Metric
		value := "7us"
		if err := x.set(f.Name, value); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	for text, want := range map[string]string{
		"slowdown,stat=p98":          "use one of p50",
		"slowdow":                    "use one of goodput_gbps",
		"slowdown,group=E":           "use one of all, A",
		"slowdown,host=h1-1":         "does not apply",
		"slowdown,stat":              "want FIELD=VALUE",
		"slowdown,what=1":            "no field is called",
		"slowdown,stat=p50,stat=p99": "given twice",
		"goodput_gbps,from=x":        "from:",
		"":                           "no metric",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

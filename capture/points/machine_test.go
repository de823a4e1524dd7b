package points

import (
	"strings"
	"testing"
)

func TestModelName(t *testing.T) {
	for cpuinfo, want := range map[string]string{
		"processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD  EPYC: 7B13 \nmodel name\t: other\n": "AMD EPYC: 7B13",
		"processor\t: 0\nBogoMIPS\t: 50.00\n":                                                 "",
		"":                                                                                    "",
	} {
		if got := modelName(strings.NewReader(cpuinfo)); got != want {
			t.Errorf("%q: %q, want %q", cpuinfo, got, want)
		}
	}
}

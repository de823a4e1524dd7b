package metric

import (
	"fmt"

	"sirdbed/capture/results"
)

var unstable = Descriptor{
	Name: "unstable",
	Doc: "1 if the run was unstable (a backlog grew over the second half of the window, or goodput stayed below " +
		"what arrived), else 0. The rule applies to scenarios with a poisson stream.",
	eval: (*Metric).unstable,
}

func (m *Metric) unstable(v *results.Variant) (float64, error) {
	if !v.Stability.Applies {
		return 0, fmt.Errorf("the rule applies to scenarios with a poisson stream only")
	}
	if v.Stability.Unstable {
		return 1, nil
	}
	return 0, nil
}

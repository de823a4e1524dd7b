package metric

import (
	"fmt"

	"sirdbed/capture/results"
)

var unstable = Descriptor{
	Name: "unstable",
	Doc: "1 if the run was unstable, that is, carried less than was offered, else 0. A run is unstable if a link is " +
		"offered more than its rate, headers included, or if it leaves more payload undelivered than the same " +
		"messages would on links that carry just what is offered on average, less a margin: 1 %, and 20 credit loops " +
		"over the time from the start of traffic to the window's end, together 7 % of 2.5 ms of the paper's fabric. " +
		"So in such a window a load closer than that to what can be carried cannot be told from it. Where the margin " +
		"is more than 12 %, runs that leave more than links without a margin would are not judged. The rule applies " +
		"to scenarios with a poisson stream. It needs streams with a rate that last all the window (no outcast, no " +
		"list) and offer the same to all links that they use, links of equal rates, and samples of gauges until the " +
		"window's end.",
	eval: (*Metric).unstable,
}

func (m *Metric) unstable(v *results.Variant) (float64, error) {
	if !v.Stability.Applies {
		return 0, fmt.Errorf("the rule applies to scenarios with a poisson stream only")
	}
	if !v.Stability.Known {
		return 0, fmt.Errorf("whether the run was stable is not known: %s", v.Stability.Why)
	}
	if v.Stability.Unstable {
		return 1, nil
	}
	return 0, nil
}

package verdict

import (
	"fmt"
	"math"

	"sirdbed/capture/results"
)

var (
	roundedLimit = Threshold{
		Of: "error of the rate", Limit: rateSlack.Limit, Unit: share, Level: results.Degraded,
		Why: "Every figure that depends on a link's rate is off by the same share; a thousandth is below the " +
			"differences that bounds ask for.",
	}
	kernelRoundedLimit = Threshold{
		Of: "error of the rate with kernel TCP", Limit: 0.0025, Unit: share, Level: results.Degraded,
		Why: "Kernel TCP takes a dilation of 10 at most, at which a full packet of 1500 B on a link of 400 Gbps is " +
			"off by 0.6 ns of 308.",
	}
	roundedInvalidLimit = Threshold{
		Of: "error of the rate", Limit: 0.01, Unit: share, Level: results.Invalid,
		Why: "Goodput, and the load at which a link is full, are then visibly not those of the link.",
	}
)

var roundedRates = Check{
	Name: "rounded rates",
	Asks: "Are the ports' rates what they should be, as far as a kernel can make them?",
	How: "A kernel takes a port's rate in whole bytes per second and spaces packets by whole ns of its own clock. " +
		"With dilation a packet takes longer by that clock, so less is lost to rounding. The error of a port's rate " +
		"is computed from its configuration, for full packets and for the smallest; full packets are judged.",
	Made:       onKernel,
	Thresholds: []Threshold{roundedLimit, kernelRoundedLimit, roundedInvalidLimit},
	Do:         "Use a larger --dilation, with kernel TCP up to 10.",
	check:      checkRoundedRates,
}

func checkRoundedRates(j *judge) {
	most, small, name := 0.0, 0.0, ""
	for _, f := range j.v.Facts.Ports {
		small = max(small, math.Abs(f.SmallRateError))
		if e := math.Abs(f.RateError); name == "" || e > most {
			most, name = e, f.Name
		}
	}
	if name == "" {
		return
	}
	limit := roundedLimit
	if j.kernel() {
		limit = kernelRoundedLimit
	}
	level, hint := worst(most, limit, roundedInvalidLimit), ""
	if level != results.Pass {
		hint = "; a larger --dilation makes it less"
	}
	j.add(level,
		fmt.Sprintf("at most %s for full packets; INVALID beyond %s", limit.number(), roundedInvalidLimit.number()),
		"at most %s off%s, %.4f %% for the smallest packets%s", figure(most, limit, roundedInvalidLimit),
		where(name, missed(most, limit, roundedInvalidLimit)), 100*small, hint)
}

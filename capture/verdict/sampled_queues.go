package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

var agreementLimit = Threshold{
	Of: "samples that differ", Limit: 0.01, Unit: share, Level: results.Degraded,
	Why: "A packet may arrive and another leave while a queue is being read, so two packets are no difference; " +
		"beyond that, one sample in a hundred may be read at a bad time.",
}

var sampledQueues = Check{
	Name: "sampled queues",
	Asks: "Do the sampled queues agree with captures?",
	How: "If a switch is captured, its queues are rebuilt packet by packet, and each sample is compared with every " +
		"depth that the rebuilt queue had while it was read. At least 99 in 100 samples must be within two packets, " +
		"at every port. This checks reading and rebuilding queues against each other.",
	Made:       notModel,
	Thresholds: []Threshold{agreementLimit},
	Do: "See the checks capture drops and queue sampling. If they pass, trust the capture, and report a bug in the " +
		"reading of queues.",
	check: checkSampledQueues,
}

func checkSampledQueues(j *judge) {
	var least *results.Agreement
	ports := 0
	for i := range j.v.Agreements {
		a := &j.v.Agreements[i]
		if a.Samples == 0 {
			continue
		}
		ports++
		if least == nil || a.Share() < least.Share() ||
			(a.Share() == least.Share() && a.MaxPackets > least.MaxPackets) {
			least = a
		}
	}
	if least == nil {
		return
	}
	within := 1 - agreementLimit.Limit
	agree, all := Threshold{Limit: within, Unit: share}, Threshold{Limit: 1, Unit: share}
	level, limit := results.Pass, ""
	if least.Share() < within {
		limit = "limit " + agree.number()
		level = agreementLimit.Level
	}
	incomplete := ""
	if j.v.Facts != nil && j.v.Facts.CaptureDrops > 0 {
		incomplete = "; the capture itself missed packets"
	}
	j.add(level,
		fmt.Sprintf("at least %s of samples are within %d packets of the capture", agree.number(), results.AgreeWithin),
		"%s of %d samples within %d packets%s, at most %d apart (%s, the worst of %d ports)%s",
		figure(least.Share(), agree, all), least.Samples, results.AgreeWithin, where(limit),
		least.MaxPackets, least.Port, ports, incomplete)
}

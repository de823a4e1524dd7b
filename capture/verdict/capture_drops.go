package verdict

import "sirdbed/capture/results"

var captureDropsLimit = none(results.Degraded,
	"The network did carry the packets: only queues rebuilt from the capture are off.")

var captureDrops = Check{
	Name: "capture drops",
	Asks: "Do captures have every packet?",
	How: "A capture takes copies of packets from a ring of its own. Copies that do not fit are missing from the " +
		"file: packets then seem to leave without having arrived, or to wait forever.",
	Made:       onKernel,
	Thresholds: []Threshold{captureDropsLimit},
	Do:         "Capture fewer nodes, keep less of each frame (snap_len), or use a larger --dilation.",
	check:      func(j *judge) { j.lost(j.v.Facts.CaptureDrops, captureDropsLimit, "captures") },
}

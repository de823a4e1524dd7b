package verdict

import "sirdbed/capture/results"

var captureDropsLimit = none(results.Degraded,
	"The network did carry the packets: queues rebuilt from the capture are off, and nothing else.")

var captureDrops = Check{
	Name: "capture drops",
	Asks: "Do captures have every packet?",
	How: "A capture takes copies of packets from a ring of its own. Copies that do not fit are missing in the " +
		"file, so that packets seem to leave that never came, or to wait for ever.",
	Made:       onKernel,
	Thresholds: []Threshold{captureDropsLimit},
	Do:         "Capture fewer nodes, keep less of each frame (snap_len), or use a larger --dilation.",
	check:      func(j *judge) { j.lost(j.v.Facts.CaptureDrops, captureDropsLimit, "captures") },
}

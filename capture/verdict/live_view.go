package verdict

import (
	"sirdbed/capture/results"
	"sirdbed/emu"
)

var liveLimit = Threshold{
	Of: "processor time of the live view", Limit: 0.02, Unit: share, Level: results.Degraded,
	Why: "The hosts lack what the view takes. The check CPU steal lets the hypervisor take as much.",
}

var liveView = Check{
	Name: "live view",
	Asks: "Did watching the run disturb it?",
	How: "With --live or --watch a process outside the fabric reads the logs as they are appended, serves the page " +
		"and draws in the terminal. It yields to all others (nice 10), and counts its processor time and what it " +
		"reads. A browser on the same machine is not counted: it shows in wake-up lateness, if at all. On the " +
		"virtual engine time stands still while anything runs, and on the model it is computed, so nothing is " +
		"disturbed there.",
	Made: Made{"runs with --live or --watch", func(j *judge) bool {
		return j.v.Facts != nil && j.v.Facts.Live != nil
	}},
	Thresholds: []Threshold{liveLimit},
	Do: "Run it without --live or --watch, or watch from another machine, by ssh -L with the page's port at both " +
		"ends.",
	check: checkLiveView,
}

func checkLiveView(j *judge) {
	f := j.v.Facts
	limit := "at most " + liveLimit.number()
	if f.Engine != emu.Real {
		j.add(results.Pass, limit, "%.2f s of processor time, which disturbs no run of the engine %s", f.Live.CPU,
			f.Engine)
		return
	}
	if f.Live.Lost {
		j.add(results.Degraded, limit, "it ended before the run, and has not said what it took")
		return
	}
	found := f.Live.CPU / (max(f.Wall, 1e-9) * float64(max(1, f.CPUs)))
	j.add(liveLimit.level(found), limit, "%s of CPU time, in %d reads of %.1f MB%s", figure(found, liveLimit),
		f.Live.Reads, float64(f.Live.Bytes)/1e6, where(missed(found, liveLimit)))
}

package reproduce

import "sirdbed/capture/report"

// Differences lists what is run otherwise than in the simulator of the printed numbers, as far as its
// released sources say, and what that does to figures where an experiment has shown it.
func Differences() report.Table {
	return report.Table{
		Title: "Otherwise than in the simulator", Left: 3,
		Header: []string{"what", "here", "in the simulator"},
		Rows: [][]string{
			{"offered load", "what a load says, by the mean of the sizes that are drawn",
				"1.3 % (WKa), 0.1 % (WKb) and 1.5 % (WKc) less: it divides by another mean. SIRD's p99 in " +
					"Balanced WKc is " +
					"4.06 with so much less, 4.14 without (print 3.99)"},
			{"warm-up", "2 to 40 ms, by configuration, workload and load; above load 0.7 not measured with WKa",
				"nine tenths of a run: 424 ms in Core with WKc at load 0.95"},
			{"headers", "what each protocol's own need, and acknowledgements for all: WKa takes 1.18 bytes " +
				"on the wire for " +
				"one of payload with SIRD", "1.14, and SIRD has no acknowledgements"},
			{"a sender's network card", "connections of DCTCP and Swift take turns",
				"one queue, first come first served: with it Swift's p99 in Balanced WKb is 7.4, not 6.7"},
			{"round trips of DCTCP", "each packet is timed", "one segment at a time"},
			{"SIRD's losses", "by the paper's rule in Core, else by the order of packets", "recovery is off"},
			{"Homa's losses", "a receiver asks again for what is late by 5 ms, in Core by 1 s, which is never", "no " +
				"recovery"},
			{"dcPIM", "links of 0.65 us, full packets, Poisson arrivals, no replies, unlimited buffers",
				"presumably so, but for buffers of 500,000 bytes a port: its numbers are from its authors' " +
					"simulator, and " +
					"the paper has one table of delays for all"},
		},
		Note: "ExpressPass, DCTCP and Homa of the print are ports to ns-2, Swift to OMNeT++.",
	}
}

package verdict

import "sirdbed/capture/results"

var files = Check{
	Name: results.FilesCheck,
	Asks: "Are the raw files those that the run left?",
	How: "When a variant has ended, the run writes the size and the SHA-256 of all its raw files into " +
		"checksums.json: the experiment, the logs, captures and facts, with those of the scenario. sirdbed report " +
		"and compare read all of them again. Figures from a damaged file, or without a missing one, are not those of " +
		"the run, so it is INVALID. What a killed run was writing has no checksums; nor have results of versions " +
		"that kept none.",
	Made: Made{"every result that has checksums", func(j *judge) bool { return j.v.Files != nil }},
	Do: "Restore the file from a copy of the result, or run it again. What sirdbed writes there belongs to the " +
		"result: keep filtered captures and the like elsewhere.",
	check: func(j *judge) {
		const limit = results.FilesLimit
		switch f := j.v.Files; {
		case len(f.Damaged) > 0:
			j.add(results.Invalid, limit, "%s", f.Text())
		case f.Checked == 0:
			j.add(results.Pass, limit, "not checked: the variant did not end in good order, and has no checksums")
		default:
			j.add(results.Pass, limit, "%d files are", f.Checked)
		}
	},
}

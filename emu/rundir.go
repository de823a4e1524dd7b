package emu

import (
	"sirdbed/emu/tree"
)

// A RunDir is the directory of a run's raw logs, which an engine fills and the
// analysis reads:
//
//	experiment.json        the Experiment, before anything else
//	hosts/NAME.rec         a record log (package record) of each host
//	queues.rec             a record log of the ports' queues
//	apps/NAME.out          what each program printed, if there were programs
//	captures/NODE.pcapng   what was captured at a node, where that was asked for
//	facts.json             the Facts, at last: whether the run came to its end or not
//
// What a killed run leaves lacks facts.json, and its logs are cut off. By several guests
// (Experiment.Guests) the second and later ones write facts.1.json, queues.1.rec and so on,
// which become one with the first's at the end; what a run that failed could not merge stays.
type RunDir struct{ *tree.Dir }

// OpenRunDir opens a directory that is there.
func OpenRunDir(path string) (RunDir, error) {
	dir, err := tree.Open(path)
	return RunDir{dir}, err
}

// Begin makes the subdirectories and writes the experiment down.
func (d RunDir) Begin(x *Experiment) error {
	for _, name := range []string{hostLogs, Captures} {
		sub, err := d.Make(name)
		if err != nil {
			return err
		}
		sub.Close()
	}
	return d.WriteJSON(ExperimentFile, x)
}

// End writes the facts down.
func (d RunDir) End(f *Facts) error { return d.WriteJSON(FactsFile, f) }

// The names of what is in a RunDir.
const (
	ExperimentFile = "experiment.json"
	FactsFile      = "facts.json"
	QueueLog       = "queues.rec"
	Captures       = "captures" // the directory
	AppOutputs     = "apps"     // the directory
	hostLogs       = "hosts"
)

// HostLog is the name of a host's record log.
func HostLog(host string) string { return hostLogs + "/" + host + ".rec" }

// AppOutput is the name of what a program printed.
func AppOutput(app string) string { return AppOutputs + "/" + app + ".out" }

// CaptureFile is the name of a node's capture.
func CaptureFile(node string) string { return Captures + "/" + node + ".pcapng" }

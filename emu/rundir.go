package emu

import (
	"os"
	"path/filepath"

	"sirdbed/emu/atomicfile"
)

// A RunDir is the directory of a run's raw logs, which an engine fills and the
// analysis reads:
//
//	experiment.json        the Experiment, before anything else
//	hosts/NAME.rec         a record log (package record) of each host
//	queues.rec             a record log of the ports' queues
//	captures/NODE.pcapng   what was captured at a node, where that was asked for
//	facts.json             the Facts, at last: whether the run came to its end or not
//
// What a killed run leaves lacks facts.json, and its logs are cut off.
type RunDir string

// Begin makes the subdirectories and writes the experiment down.
func (d RunDir) Begin(x *Experiment) error {
	for _, sub := range []string{hostLogs, captures} {
		if err := os.MkdirAll(filepath.Join(string(d), sub), 0o755); err != nil {
			return err
		}
	}
	return atomicfile.JSON(d.ExperimentFile(), x)
}

// End writes the facts down.
func (d RunDir) End(f *Facts) error { return atomicfile.JSON(d.FactsFile(), f) }

const (
	hostLogs = "hosts"
	captures = "captures"
)

// ExperimentFile is the path of the experiment.
func (d RunDir) ExperimentFile() string { return filepath.Join(string(d), "experiment.json") }

// HostLog is the path of a host's record log.
func (d RunDir) HostLog(host string) string { return filepath.Join(string(d), hostLogs, host+".rec") }

// QueueLog is the path of the queue samples.
func (d RunDir) QueueLog() string { return filepath.Join(string(d), "queues.rec") }

// Captures is the directory of captures.
func (d RunDir) Captures() string { return filepath.Join(string(d), captures) }

// CaptureFile is the path of a node's capture.
func (d RunDir) CaptureFile(node string) string {
	return filepath.Join(string(d), captures, node+".pcapng")
}

// FactsFile is the path of the facts.
func (d RunDir) FactsFile() string { return filepath.Join(string(d), "facts.json") }

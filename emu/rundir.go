package emu

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A RunDir is the directory of a run's raw logs, laid out as Engine.Run says.
type RunDir string

// Begin makes the subdirectories and writes the experiment down.
func (d RunDir) Begin(x *Experiment) error {
	for _, sub := range []string{"hosts", "captures"} {
		if err := os.MkdirAll(filepath.Join(string(d), sub), 0o755); err != nil {
			return err
		}
	}
	return d.write("experiment.json", x)
}

// HostLog is the path of a host's record log.
func (d RunDir) HostLog(host string) string { return filepath.Join(string(d), "hosts", host+".rec") }

// QueueLog is the path of the queue samples.
func (d RunDir) QueueLog() string { return filepath.Join(string(d), "queues.rec") }

// CaptureFile is the path of a node's capture.
func (d RunDir) CaptureFile(node string) string {
	return filepath.Join(string(d), "captures", node+".pcapng")
}

// End writes the facts down.
func (d RunDir) End(f *Facts) error { return d.write("facts.json", f) }

// write puts a file in place whole or not at all.
func (d RunDir) write(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	path := filepath.Join(string(d), name)
	err = os.WriteFile(path+".new", append(b, '\n'), 0o644)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		os.Remove(path + ".new")
	}
	return err
}

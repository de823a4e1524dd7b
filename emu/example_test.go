package emu_test

import (
	"fmt"
	"log"
	"os"

	"sirdbed/emu"
	"sirdbed/topo/units"
)

// What an engine leaves in the directory of a run: the experiment before
// anything else, the facts at last.
func ExampleRunDir() {
	tmp, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)

	dir, err := emu.OpenRunDir(tmp)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	if err := dir.Begin(&emu.Experiment{Protocol: "sird", Duration: units.Millisecond}); err != nil {
		log.Fatal(err)
	}
	if err := dir.End(&emu.Facts{Engine: emu.Model, Dilation: 1, Reached: units.Millisecond}); err != nil {
		log.Fatal(err)
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	// Output:
	// captures
	// experiment.json
	// facts.json
	// hosts
}

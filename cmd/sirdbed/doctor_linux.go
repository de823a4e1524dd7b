//go:build !portable

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/real"
	"sirdbed/emu/rights"
	"sirdbed/emu/sandbox"
	"sirdbed/emu/sudo"
	"sirdbed/emu/virtual/guest"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Report what this machine can do, engine by engine",
		Long: text(`
			Try everything that the engines need of this machine, and report what works, what does not, and what to do
			about it. Each feature is used, not looked up, in namespaces that are gone at the end: nothing is left
			behind.

			Run it as the user who will run scenarios. The exit code is 1 if the real engine cannot run here.`),
		Example: examples(`
			sirdbed doctor
			sudo sirdbed doctor          what root could do
			sirdbed doctor --json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !sandbox.InSandbox() {
				// Without a sandbox, the probes report what is missing for one.
				if err := inSandbox(c.Context(), nil, nil, ""); !errors.Is(err, errNoSandbox) {
					return err
				}
			}
			d := diagnose()
			if asJSON {
				if err := printJSON(c.OutOrStdout(), d); err != nil {
					return err
				}
			} else {
				d.print(c.OutOrStdout())
			}
			if !d.Engines[0].Works {
				return &codedError{exitFailed, errReported}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// A Diagnosis is what doctor --json prints.
type Diagnosis struct {
	Kernel  string `json:"kernel"`
	CPUs    int    `json:"cpus"`
	Root    bool   `json:"root"`
	TimerNs int64  `json:"timer_lateness_ns"` // p90, of a thread alone
	CrowdNs int64  `json:"crowd_lateness_ns"` // p90, of threads that share the processors
	// WakeUps is what can be done about late wake-ups, and what comes of it.
	WakeUps []WakeUpsDiagnosis `json:"wake_ups"`
	Engines []EngineDiagnosis  `json:"engines"`
	Tools   []Finding          `json:"tools"`
}

// An EngineDiagnosis is what one engine can do here.
type EngineDiagnosis struct {
	Engine   string    `json:"engine"`
	Works    bool      `json:"works"`
	Verdict  string    `json:"verdict"`
	Features []Finding `json:"features,omitempty"`
}

// A Finding is something that was tried.
type Finding struct {
	Name   string `json:"name"`
	Use    string `json:"use"`
	Works  bool   `json:"works"`
	Needed bool   `json:"needed"` // nothing works without it
	Error  string `json:"error,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// needed are the features without which the real engine cannot run at all.
var needed = map[string]bool{
	fabric.FeatureNetNS: true, fabric.FeatureRaw: true, fabric.FeatureRings: true, fabric.FeatureVeth: true,
	fabric.FeatureHTB: true, fabric.FeatureFIFO: true, fabric.FeatureU32: true,
}

func diagnose() *Diagnosis {
	m := real.MeasureMachine(0, real.Means{})
	d := &Diagnosis{
		Kernel: cmp.Or(real.KernelRelease(), "unknown"), CPUs: runtime.NumCPU(), Root: sudo.Root(),
		TimerNs: int64(m.Timer.P90), CrowdNs: int64(m.Crowd.P90), WakeUps: diagnoseWakeUps(),
	}
	d.Engines = []EngineDiagnosis{
		diagnoseReal(d.Root), diagnoseVirtual(), {Engine: string(emu.Model), Works: true, Verdict: "works everywhere"},
	}
	nsenter := Finding{Name: "nsenter", Use: "sirdbed exec", Works: true}
	if _, err := exec.LookPath("nsenter"); err != nil {
		nsenter.Works, nsenter.Error, nsenter.Remedy = false, "it is not installed", "install util-linux"
	}
	d.Tools = []Finding{nsenter}
	return d
}

func diagnoseReal(root bool) EngineDiagnosis {
	e := EngineDiagnosis{Engine: string(emu.Real), Works: true}
	works := map[string]bool{}
	for _, f := range fabric.Probes() {
		finding := Finding{Name: f.Name, Use: f.Use, Works: f.Err == nil, Needed: needed[f.Name]}
		if f.Name == fabric.FeatureUserNS && !root {
			finding.Needed = true
		}
		if f.Err != nil {
			finding.Error, finding.Remedy = f.Err.Error(), f.Remedy
			if missing, ok := errors.AsType[*port.NotSupportedError](f.Err); ok && f.Remedy != "" {
				finding.Error = missing.Missing() // the remedy has the advice
			}
			e.Works = e.Works && !finding.Needed
		}
		works[f.Name] = f.Err == nil
		e.Features = append(e.Features, finding)
	}
	var limits []string
	if !works[fabric.FeatureMultipath] {
		limits = append(limits, "one spine only")
	}
	if !works[fabric.FeatureRED] && !works[fabric.FeatureMarker] {
		limits = append(limits, "no ECN marks, so no protocol that needs them on its fabric")
	}
	if !works[fabric.FeatureNetem] || !works[fabric.FeatureIFB] || !works[fabric.FeatureRedirect] {
		limits = append(limits, "hosts delay packets in place of the links, so kernel TCP and applications see none")
	}
	switch {
	case !e.Works:
		e.Verdict = "cannot run here: see what is missing below"
	case len(limits) > 0:
		e.Verdict = "works, with limits: " + strings.Join(limits, "; ")
	default:
		e.Verdict = "works"
	}
	return e
}

func diagnoseVirtual() EngineDiagnosis {
	e := EngineDiagnosis{Engine: string(emu.Virtual)}
	memory := Finding{Name: "huge pages", Use: "guests that start fast", Works: true}
	if err := guest.ProbeHugePages(); err != nil {
		memory.Works, memory.Error = false, err.Error()
		memory.Remedy = "CONFIG_TRANSPARENT_HUGEPAGE, Linux 5.2, and root or user namespaces"
	}
	confined := Finding{Name: "Landlock", Use: "guests that reach no files but their run's", Works: true}
	if err := guest.ProbeConfinement(); err != nil {
		confined.Works, confined.Error, confined.Remedy = false, err.Error(), "CONFIG_SECURITY_LANDLOCK, Linux 5.13"
	}
	e.Features = []Finding{memory, confined}
	built, err := findKernel()
	if caller, _ := rights.SudoCaller(); err == nil && caller == nil {
		err = checkKernel() // as who will execute it
	}
	switch {
	case err != nil:
		e.Verdict = "cannot run yet: " + err.Error()
	default:
		e.Works, e.Verdict = true, "works, with Linux "+built.Version+" (sirdbed kernel status tries it)"
	}
	return e
}

func (d *Diagnosis) print(w io.Writer) {
	user := "an ordinary user"
	if d.Root {
		user = "root"
	}
	fmt.Fprintf(w, "Linux %s, %d processors, as %s\n", d.Kernel, d.CPUs, user)
	fmt.Fprintf(w, "Wake-ups are late by %.1f us alone, %.1f us in a crowd (p90)\n",
		float64(d.TimerNs)/1000, float64(d.CrowdNs)/1000)
	printWakeUps(w, d.WakeUps)
	for _, e := range d.Engines {
		wrapped(w, "", "", fmt.Sprintf("\nengine %s: %s", e.Engine, e.Verdict))
		for _, f := range e.Features {
			f.print(w)
		}
	}
	fmt.Fprintln(w, "\ntools")
	for _, f := range d.Tools {
		f.print(w)
	}
}

func (f *Finding) print(w io.Writer) {
	mark := "ok"
	switch {
	case !f.Works && f.Needed:
		mark = "MISSING"
	case !f.Works:
		mark = "no"
	}
	fmt.Fprintf(w, "  %-8s %-22s %s\n", mark, f.Name, f.Use)
	const indent = "           "
	if f.Error != "" {
		wrapped(w, indent, indent, f.Error)
	}
	if f.Remedy != "" {
		wrapped(w, indent+"-> ", indent+"   ", f.Remedy)
	}
}

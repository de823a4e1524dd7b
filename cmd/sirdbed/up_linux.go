//go:build !portable

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/real"
	"sirdbed/scenarios"
	"sirdbed/topo/units"
)

// upOptions are the options of up on the command line.
type upOptions struct {
	run        runOptions
	name       string
	foreground bool
}

func newUp() *cobra.Command {
	var o upOptions
	c := &cobra.Command{
		Use:   "up SCENARIO",
		Short: "Bring up the fabric of a scenario, without traffic",
		Long: text(`
			Build the fabric of a scenario and keep it up for sirdbed exec, until sirdbed down. No traffic runs there,
			and nothing is measured. Hosts run the scenario's transport for programs that send messages over it (package
			sirdbed/sirdnode/message). Several fabrics may be up at once, each with a name of its own: the scenario's,
			unless --name gives another.

			The command returns when the fabric is up; a process in the background keeps it. With --foreground this one
			does, until an interrupt. A fabric and all that runs in it end if any of the processes that keep it ends,
			for whatever reason.

			Ports are as the protocol of the first variant, or of --variant, needs them, with a queue of ` +
			scenarios.ProgramsQueue.String() + ` unless the scenario has a queue_limit. The dilation is 1 unless the
			scenario states one: programs run by the kernel's clock. On the engine virtual it is up to 10, and the
			clock stands still while no program runs. Devices that are hosts are taken until the fabric goes down;
			what is at the other ends of their cables takes part by its own kernel: no peer joins.`),
		Example: examples(`
			sirdbed up quickstart
			sirdbed up scenarios/incast.yaml --name a --set topology.host_rate=1Gbps
			sirdbed up quickstart --engine virtual --name exact
			sirdbed exec --run a h1-1 ping -c 3 h1-2
			sirdbed down a`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(c *cobra.Command, args []string) error {
			return o.up(c, args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&o.name, "name", "", "call the fabric `NAME` (default: the scenario's)")
	f.BoolVar(&o.foreground, "foreground", false, "keep the fabric up in this process, until an interrupt")
	f.StringVar(&o.run.engine, "engine", "", "build it on `ENGINE`: real or virtual (default: the scenario's, or real)")
	f.StringSliceVar(&o.run.variants, "variant", nil, "ports and protocol of the variant `NAME` (default: the first)")
	f.StringVar(&o.run.dilation, "dilation", "", "stretch time by `FACTOR`, or auto (default: the scenario's)")
	f.StringArrayVar(&o.run.set, "set", nil, setUsage)
	completeFlag(c, "engine", completeEngine)
	completeFlag(c, "variant", completeVariants)
	completeFlag(c, "dilation", cobra.FixedCompletions([]string{"auto"}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "name", noFiles)
	completeFlag(c, "set", noFiles)
	return c
}

// A standing is a fabric without traffic that is to come up.
type standing struct {
	r    *scenarioRun
	x    *emu.Experiment
	name string
	c    *cobra.Command
}

func (o *upOptions) up(c *cobra.Command, path string) error {
	s, err := o.prepare(c, path)
	if err != nil {
		return err
	}
	if err := nameFree(s.name); err != nil {
		return err
	}
	if s.r.release != nil {
		defer s.r.release()
	}
	if err := s.r.checkRoom(); err != nil {
		return err
	}
	if !o.foreground {
		return inBackground(c)
	}
	if enter := engines[s.r.engine].enter; enter != nil {
		if done, err := enter(c.Context(), s.r.experiments, showing{}, joining{}, ""); done {
			return err
		}
	}
	if err := s.r.check(); err != nil {
		return err
	}
	if s.r.engine == emu.Virtual {
		return s.onVirtual(c.Context())
	}
	return s.onReal(c.Context())
}

// prepare checks what can be checked before anything is started.
func (o *upOptions) prepare(c *cobra.Command, path string) (*standing, error) {
	engine := o.run.engine
	if engine == string(emu.Model) {
		return nil, badInput(errors.New("the engine model builds no fabric: use --engine real or virtual"))
	}
	r, err := prepare(path, o.run)
	if err != nil {
		return nil, err
	}
	if r.engine == emu.Model {
		return nil, badInput(fmt.Errorf("%s is for the engine model, which builds no fabric: use --engine real or "+
			"virtual", path))
	}
	s := &standing{r: r, x: &r.experiments[0], name: o.name, c: c}
	if s.name == "" {
		s.name = r.scenario.Name
	}
	if !fabricName.MatchString(s.name) {
		return nil, badInput(fmt.Errorf("--name %s: want up to 64 small letters, digits, dots and dashes",
			report.Printable(s.name)))
	}
	r.experiments = r.experiments[:1]
	s.x.QueueLimit = s.r.scenario.QueueForPrograms()
	s.x.Streams, s.x.Apps, s.x.Timeline, s.x.Up = nil, nil, nil, true
	r.stdout, r.stderr = c.OutOrStdout(), c.ErrOrStderr()
	return s, nil
}

var fabricName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// nameFree reports a fabric that is up under a name.
func nameFree(name string) error {
	list, err := states()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list.live, func(s State) bool { return s.Run == name }) {
		return nameTaken(name)
	}
	return nil
}

func nameTaken(name string) error {
	return badInput(fmt.Errorf("a fabric called %s is up: take it down (sirdbed down %s), or give this one another "+
		"name with --name", name, name))
}

// publish makes the fabric known, and says so on standard output, in one line. With an error
// there is nothing left to withdraw.
func (s *standing) publish(state State, dilation units.Dilation, features emu.Features) (withdraw func(), err error) {
	state.Run, state.Up, state.Engine = s.name, true, string(s.r.engine)
	state.Scenario, state.Variant, state.File = s.x.Scenario, s.x.Variant, absolute(s.r.scenario.File())
	state.Started, state.Topology = time.Now(), s.x.Topology
	none := func() {}
	withdraw, err = publishState(state)
	if errors.Is(err, errNameTaken) {
		return none, nameTaken(s.name)
	}
	if err != nil {
		return none, err
	}
	delays := ""
	if features.Wires == emu.HostDelay {
		delays = ", whose links do not delay packets (no netem in this kernel)"
	}
	first := s.r.scenario.Fabric().HostName(0)
	_, err = fmt.Fprintf(s.r.stdout, "%s is up: %s on %s, dilation %d%s: sirdbed exec --run %s %s, sirdbed down %s\n",
		s.name, shape(s.x.Topology), s.r.engine, dilation, delays, s.name, first, s.name)
	if err != nil { // whoever started this is gone
		withdraw()
		return none, err
	}
	return withdraw, nil
}

// onReal keeps the fabric up in namespaces of this machine.
func (s *standing) onReal(ctx context.Context) error {
	withdraw := func() {}
	engine := &real.Engine{NodeCommand: hostCommand, Devices: deviceMachine()}
	err := engine.Up(ctx, s.x, func(f *fabric.Fabric, is real.Standing) (err error) {
		withdraw, err = s.publish(State{Nodes: nodesOf(f), Hosts: hostStates(is.Hosts)}, is.Dilation, is.Features)
		return err
	})
	withdraw()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		fmt.Fprintln(s.r.stderr, "interrupted before the fabric was up")
		return &codedError{exitStopped, errReported}
	}
	return err
}

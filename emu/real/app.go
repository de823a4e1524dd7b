//go:build linux

package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/launch"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/message/frame"
	"sirdbed/topo"
)

// An app is one program of a run.
type app struct {
	*emu.App
	apps   *apps
	node   topo.NodeID
	is     emu.Readiness
	output *appOutput
	facts  emu.AppFacts

	ready  chan struct{} // closed when it is
	failed chan struct{} // closed when it never will be
}

func (a *apps) newApp(spec *emu.App) (*app, error) {
	node, ok := a.run.topology.Node(spec.Host)
	if !ok {
		return nil, fmt.Errorf("app %s: no node is called %s", spec.Name, spec.Host)
	}
	is, err := spec.Readiness()
	if err != nil {
		return nil, fmt.Errorf("app %s: %w", spec.Name, err)
	}
	file, err := a.run.dir.Create(emu.AppOutput(spec.Name))
	if err != nil {
		return nil, err
	}
	return &app{
		App: spec, apps: a, node: node.ID, is: is, output: newAppOutput(file, is.Output),
		ready: make(chan struct{}), failed: make(chan struct{}),
		facts: emu.AppFacts{Name: spec.Name, Host: spec.Host,
			Output: emu.AppOutput(spec.Name)},
	}, nil
}

// live is the program's life, until ctx ends it. Nobody looks at its facts before.
func (a *app) live(ctx context.Context) {
	err := a.precede(ctx)
	if err == nil {
		err = a.perform(ctx)
	}
	select {
	case <-a.ready:
	default:
		close(a.failed)
	}
	a.facts.Met = err == nil
	if err != nil {
		a.facts.Problem = err.Error()
	}
}

// precede waits for nominal 0, and for the programs that come before this one.
func (a *app) precede(ctx context.Context) error {
	wait := time.NewTimer(time.Duration(a.apps.run.clock.Origin() - clock.Monotonic()))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return errNotStarted
	}
	for _, name := range a.After {
		before := a.apps.find(name)
		select {
		case <-before.ready:
		case <-before.failed:
			return fmt.Errorf("it was not started, since %s was not ready", name)
		case <-ctx.Done():
			return fmt.Errorf("%w: %s was not ready", errNotStarted, name)
		}
	}
	return nil
}

// perform starts the program, again if it fails and may, and returns why it did not end,
// or go on, as expected.
func (a *app) perform(ctx context.Context) error {
	within := emu.DefaultReadyWithin
	if a.ReadyWithin > 0 {
		within = a.ReadyWithin
	}
	unready := time.NewTimer(time.Duration(within))
	defer unready.Stop()
	again := 0
	if a.Restart == emu.RestartOnFailure {
		if again = a.Restarts; again == 0 {
			again = emu.DefaultRestarts
		}
	}
	for {
		err := a.once(ctx, unready.C)
		if err == nil || ctx.Err() != nil || again == 0 || errors.Is(err, errUnready) {
			return err
		}
		again--
		a.facts.Restarts++
		select {
		case <-time.After(restartPause):
		case <-ctx.Done():
			return err
		}
	}
}

const (
	// restartPause is how long a program waits before it is started again.
	restartPause = 100 * time.Millisecond
	// readyEvery is how often it is looked whether a program is ready.
	readyEvery = 10 * time.Millisecond
)

// errUnready is the problem of a program that was not ready in time.
var errUnready = errors.New("it was not ready in time")

// once starts the program and waits for its end.
func (a *app) once(ctx context.Context, unready <-chan time.Time) error {
	cmd, err := a.start()
	if err != nil {
		return err
	}
	a.facts.Started, a.facts.Exit = new(a.apps.now()), nil
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	var timeout <-chan time.Time
	if a.Timeout > 0 {
		t := time.NewTimer(time.Duration(a.Timeout))
		defer t.Stop()
		timeout = t.C
	}
	look := time.NewTicker(readyEvery)
	defer look.Stop()
	ticks := look.C
	for {
		if a.isReady() {
			a.markReady()
		}
		if a.facts.Ready != nil || a.is.Kind == emu.ReadyExit || a.is.Kind == emu.ReadyOutput {
			ticks = nil
		}
		select {
		case <-exited:
			return a.exited(cmd)
		case <-ticks:
		case <-a.output.matched:
			a.output.matched = nil
			a.markReady()
		case <-unready:
			if a.facts.Ready == nil && a.is.Kind != emu.ReadyExit {
				a.end(cmd, exited)
				return fmt.Errorf("%w: want %s", errUnready, a.Ready)
			}
		case <-timeout:
			a.end(cmd, exited)
			return fmt.Errorf("it did not end within %v and was ended", a.Timeout)
		case <-ctx.Done():
			a.end(cmd, exited)
			return a.cutShort()
		}
	}
}

// start starts the program in its node.
func (a *app) start() (*exec.Cmd, error) {
	start := launch.Start{Argv: a.Run, Names: a.apps.names}
	file, err := start.File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd := exec.Command(a.apps.run.engine.NodeCommand[0], launch.Argument)
	cmd.Env = append(a.apps.run.engine.Platform.programEnv(), appVar+"="+a.Name, "SIRDBED_HOST="+a.Host)
	if socket := a.apps.run.socket(); socket != "" {
		cmd.Env = append(cmd.Env, frame.AddressVar+"="+socket)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.ExtraFiles = []*os.File{file} // launch.StartFD
	cmd.Stdout, cmd.Stderr = a.output, a.output
	cmd.WaitDelay = time.Second // for what it leaves in the background with its output
	r := a.apps.run
	err = r.launcher.Do(func() error { return fabric.Within(r.fabric.NamespaceFD(a.node), cmd.Start) })
	if err != nil {
		return nil, fmt.Errorf("starting it: %w", err)
	}
	return cmd, nil
}

// exited judges an end that came by itself.
func (a *app) exited(cmd *exec.Cmd) error {
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	a.facts.Exit, a.facts.Ended = &code, new(a.apps.now())
	want, each, err := a.ExpectedExit()
	if err != nil {
		return err
	}
	if code != want && !each {
		how := fmt.Sprintf("exit %d", code)
		if status.Signaled() {
			how = fmt.Sprintf("a signal: %v", status.Signal())
		}
		if spun := a.apps.run.engine.Platform.Spun; spun != nil && spun(a.Name) {
			return errSpun
		}
		return fmt.Errorf("it ended with %s, not exit %d", how, want)
	}
	select {
	case <-a.output.matched:
		a.markReady()
	default:
	}
	if a.is.Kind == emu.ReadyExit || a.is.Kind == emu.ReadyFile && a.isReady() {
		a.markReady()
	} else if a.facts.Ready == nil {
		return fmt.Errorf("it ended before it was ready: want %s", a.Ready)
	}
	return nil
}

// cutShort judges a program that ran until the run's end: a daemon may, if it was ready.
func (a *app) cutShort() error {
	switch {
	case !a.IsDaemon():
		return errors.New("it did not end before the run did, and was ended")
	case a.facts.Ready == nil:
		return fmt.Errorf("%w: want %s", errUnready, a.Ready)
	}
	return nil
}

// end has the program end, and kills it if it does not.
func (a *app) end(cmd *exec.Cmd, exited <-chan error) {
	a.facts.Ended = new(a.apps.now())
	group := -cmd.Process.Pid
	_ = unix.Kill(group, unix.SIGTERM) // it may have ended
	grace := time.NewTimer(appGrace)
	defer grace.Stop()
	select {
	case <-exited:
		_ = unix.Kill(group, unix.SIGKILL) // what is left of its group
	case <-grace.C:
		_ = unix.Kill(group, unix.SIGKILL)
		<-exited
	}
}

// errSpun is the problem of a program that stopped the clock of a guest.
var errSpun = errors.New("it spun: it computed, or asked for the time, again and again, while the guest's clock " +
	"stood still, and was ended; programs that run there sleep until something happens")

func (a *app) markReady() {
	if a.facts.Ready == nil {
		a.facts.Ready = new(a.apps.now())
		close(a.ready)
	}
}

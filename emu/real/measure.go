//go:build linux

package real

import (
	"context"
	"errors"
	"time"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/node"
)

// From "go" to nominal time 0, so that all hosts have received it by then: a
// fixed part, and one for each host.
const (
	startLead     = 50 * time.Millisecond
	startLeadHost = 200 * time.Microsecond
)

// measure starts the clock and everything that watches the hosts, lets them go,
// and waits until they are done or the end has come.
func (r *run) measure(ctx context.Context) (err error) {
	r.announce(r.hosts)
	lead := startLead + time.Duration(len(r.hosts))*startLeadHost + r.agreeTime()
	origin, err := r.commonOrigin(r.engine.Platform.align(clock.Monotonic() + lead.Nanoseconds()))
	if err != nil {
		return err
	}
	if r.clock, err = clock.New(origin, r.facts.Dilation); err != nil {
		return err
	}
	if r.taps, err = r.startTaps(); err != nil {
		return err
	}
	if r.sampler, err = r.startSampler(); err != nil {
		return err
	}
	if r.timeline, err = r.startTimeline(); err != nil {
		return err
	}
	if r.apps, err = r.startApps(); err != nil {
		return err
	}
	return r.wait(ctx)
}

// wait lets the hosts go and waits until all are done at once, and the programs that
// the run waits for have ended, or a host is lost. The run's end may come before that.
// Without traffic hosts are not waited for. Of several kernels the hosts of all are.
func (r *run) wait(ctx context.Context) error {
	lost := make(chan lostHost, len(r.hosts))
	done := make(chan int, len(r.hosts))
	ended := make(chan struct{})
	defer close(ended)
	r.going = true
	for _, p := range r.hosts {
		if err := p.begin(r.clock.Origin()); err != nil {
			return errors.Join(p.death(), err)
		}
		go p.watch(done, lost, ended)
	}
	r.facts.Startup = time.Since(r.facts.Started).Seconds()
	if r.hooks.Progress != nil {
		r.hooks.Progress(0)
	}
	tick := time.NewTicker(r.engine.Platform.tick())
	defer tick.Stop()
	end := time.After(time.Duration(r.clock.ToKernel(r.x.End()) - clock.Monotonic()))
	left, programs := len(r.hosts), 0
	if r.apps != nil {
		programs = 1
	}
	traffic := len(r.x.Streams) > 0
	over := r.over()
	for over != nil && traffic || left > 0 && traffic || programs > 0 {
		select {
		case <-ctx.Done():
			r.end()
			return ctx.Err()
		case l := <-lost:
			r.end()
			l.host.failed = l.why
			return l.why
		case n := <-done:
			left -= n
			r.busy(left)
		case at := <-over:
			until(at)
			return nil
		case <-r.apps.waited():
			if programs--; programs == 0 {
				r.apps.ended = nil
			}
		case <-end:
			return nil
		case <-tick.C:
			if r.hooks.Progress != nil {
				r.hooks.Progress(max(0, min(r.clock.Now(), r.x.End())))
			}
		}
	}
	return nil
}

// A lostHost is a host process that is of no more use.
type lostHost struct {
	host *hostProcess
	why  error
}

// watch reports, until ended, that the process is done (1), that it is busy
// again (-1), or that it is lost.
func (p *hostProcess) watch(done chan<- int, lost chan<- lostHost, ended <-chan struct{}) {
	report := func(n int) {
		select {
		case done <- n:
		case <-ended:
		}
	}
	for {
		select {
		case <-ended:
			return
		case s, ok := <-p.status:
			switch {
			case !ok:
				lost <- lostHost{p, p.death()}
				return
			case s.State == node.StateFailed:
				lost <- lostHost{p, p.failure(s)}
				return
			case s.State == node.StateDone:
				report(1)
			case s.State == node.StateBusy:
				report(-1)
			}
		}
	}
}

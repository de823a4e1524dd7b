package real

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/node"
)

// wait lets the hosts go and waits until all are done at once or one is lost.
// The run's end may come before that.
func (r *run) wait(ctx context.Context) error {
	lost := make(chan loss, len(r.hosts))
	done := make(chan int, len(r.hosts))
	ended := make(chan struct{})
	defer close(ended)
	for _, p := range r.hosts {
		if err := p.say(fmt.Sprintf("go %d", r.clock.Origin())); err != nil {
			return errors.Join(p.death(), err)
		}
		go p.watch(done, lost, ended)
	}
	r.facts.Startup = time.Since(r.facts.Started).Seconds()
	if r.hooks.Progress != nil {
		r.hooks.Progress(0)
	}
	tick := time.NewTicker(cmp.Or(r.engine.Tick, 200*time.Millisecond))
	defer tick.Stop()
	end := time.After(time.Duration(r.clock.ToKernel(r.x.End()) - clock.Monotonic()))
	for left := len(r.hosts); left > 0; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l := <-lost:
			l.host.failed = l.why
			return l.why
		case n := <-done:
			left -= n
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

// A loss is a host process that is of no more use.
type loss struct {
	host *hostProcess
	why  error
}

// watch passes on, until ended, that the process is done (1), is so no more
// (-1), or is lost.
func (p *hostProcess) watch(done chan<- int, lost chan<- loss, ended <-chan struct{}) {
	pass := func(n int) {
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
				lost <- loss{p, p.death()}
				return
			case s.State == node.StateFailed:
				lost <- loss{p, p.failure(s)}
				return
			case s.State == node.StateDone:
				pass(1)
			case s.State == node.StateBusy:
				pass(-1)
			}
		}
	}
}

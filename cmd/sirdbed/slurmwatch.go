package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sirdbed/emu/tree"
)

// visible is how long it may take until a file that a node has written is seen here: NFS
// keeps attributes of directories for up to 60 s (nfs(5), acdirmax).
const visible = 65 * time.Second

// Slurm is asked after a share of the time that the batch has taken, within these bounds: a
// controller has others to serve.
const (
	askAtLeast = time.Second
	askAtMost  = 20 * time.Second
	askShare   = 60
)

// cancelTime is how long canceled tasks have to end: KillWait is 30 s unless configured.
const cancelTime = 40 * time.Second

// run submits the jobs and gathers what comes of them, until all have ended or ctx is done.
// Then it cancels what is left.
func (b *slurmBatch) run(ctx context.Context) error {
	defer b.close()
	began := time.Now()
	for {
		err := b.submitAll(ctx)
		if ctx.Err() == nil && err == nil && b.open() > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(min(max(askAtLeast, time.Since(began)/askShare), askAtMost)):
			}
			err = b.ask(ctx)
		}
		if ctx.Err() != nil || err != nil {
			b.cancel(ctx)
			return err
		}
		if b.open() == 0 {
			return nil
		}
	}
}

// ask takes what has come of the tasks since it was last called.
func (b *slurmBatch) ask(ctx context.Context) error {
	b.mark()
	var states map[slurmTask]taskState
	err := b.squeue.try(b, func() (err error) {
		if states, err = b.tools.tasks(ctx, b.name); ctx.Err() != nil {
			return nil
		}
		return err
	})
	if ctx.Err() != nil {
		return nil
	}
	if b.gather() {
		b.sbatch.waived()
		b.squeue.waived()
	}
	if states != nil {
		b.look(states)
	}
	return err
}

// open counts the tasks without an outcome, and the jobs that wait.
func (b *slurmBatch) open() int {
	n := len(b.waiting)
	for _, a := range b.arrays {
		n += len(a.gone)
	}
	return n
}

// submitAll submits what waits.
func (b *slurmBatch) submitAll(ctx context.Context) error {
	return b.sbatch.try(b, func() error {
		for len(b.waiting) > 0 && ctx.Err() == nil {
			if err := b.submitNext(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// gather takes the outcomes that have come, and reports whether there were any.
func (b *slurmBatch) gather() (any bool) {
	for _, a := range b.arrays {
		for _, k := range a.tasks() {
			o := readOutcome(a.dir, k)
			if o == nil || !b.take(a.jobs[k], o) {
				continue
			}
			any = true
			delete(a.gone, k)
			if o.Ended != endedFailed {
				a.clear(k)
			}
		}
	}
	b.arrays = slices.DeleteFunc(b.arrays, func(a *slurmArray) bool {
		over := len(a.gone) == 0
		if over {
			b.drop(a)
		}
		return over
	})
	return any
}

// tasks lists the tasks without an outcome, in order.
func (a *slurmArray) tasks() (list []int) {
	for k := range a.jobs {
		if _, ok := a.gone[k]; ok {
			list = append(list, k)
		}
	}
	return list
}

// readOutcome returns a task's outcome, nil if there is none, or none that is whole.
func readOutcome(dir *tree.Dir, task int) *pointOutcome {
	text, err := dir.Read(outcomeFile(taskFile(task)))
	o := &pointOutcome{}
	if err != nil || json.Unmarshal(text, o) != nil || o.Format != taskFormat {
		return nil
	}
	return o
}

// take notes an outcome of a job. It is not ok if the point is not in the store, or not seen
// there yet.
func (b *slurmBatch) take(i int, o *pointOutcome) (ok bool) {
	took := inSeconds(o.WallSeconds)
	switch o.Ended {
	case endedDone:
		p, stale := b.s.store.Get(b.s.jobs[i].Address)
		if p == nil || stale {
			return false
		}
		b.s.ended(i, took, p, nil)
	case endedLate:
		b.s.shown.leave(i)
	case endedFailed:
		b.s.ended(i, took, nil, errors.New(o.Error))
	default:
		return false
	}
	return true
}

// look deals with the tasks that have ended without an outcome. states was asked for before
// the outcomes were read.
func (b *slurmBatch) look(states map[slurmTask]taskState) {
	running := 0
	for _, a := range b.arrays {
		for _, k := range a.tasks() {
			state, ok := states[slurmTask{a.id, k}]
			if !ok {
				state = states[slurmTask{a.id, rest}]
			}
			if state == "RUNNING" {
				running++
			}
			if !b.over(a, k, state) {
				continue
			}
			i := a.jobs[k]
			delete(a.gone, k)
			switch err := b.lost(a, k, state); {
			case err != nil:
				b.s.ended(i, 0, nil, err)
			default:
				a.clear(k)
				b.waiting = append(b.waiting, i)
			}
		}
	}
	b.s.shown.running(running)
}

// over reports whether a task has ended without an outcome.
func (b *slurmBatch) over(a *slurmArray, task int, state taskState) bool {
	switch fateOf(state) {
	case unfinished:
		a.gone[task] = time.Time{}
		return false
	case nodeDied, preempted:
		return true
	}
	if a.gone[task].IsZero() {
		a.gone[task] = time.Now()
	}
	return time.Since(a.gone[task]) >= b.grace
}

// lost decides on a task that has ended without an outcome: it is submitted again (nil), or
// its point has failed.
func (b *slurmBatch) lost(a *slurmArray, task int, state taskState) error {
	i := a.jobs[task]
	name, how := b.s.jobs[i].Name(), strings.ToLower(string(state))
	if state == "" {
		how = "gone"
	}
	switch fateOf(state) {
	case preempted:
		b.s.shown.say("%s: preempted; submitted again", name)
		return nil
	case stopped:
		return fmt.Errorf("its task %d_%d was ended by Slurm: %s%s", a.id, task, how, logTail(a.dir, task))
	}
	if b.again[i] == maxRetries {
		return fmt.Errorf("submitted %d times, and no task came to an end: the last, %d_%d, is %s%s",
			maxRetries+1, a.id, task, how, logTail(a.dir, task))
	}
	b.again[i]++
	b.s.shown.say("%s: task %d_%d left no point (%s); submitted again", name, a.id, task, how)
	return nil
}

// A fate is what the state of a task means for its point.
type fate int

const (
	unfinished fate = iota
	nodeDied
	preempted
	stopped // by Slurm or the user: again it would be the same
	exited  // with its outcome, or killed
)

// fateOf returns what a state means; none means that Slurm has forgotten the task. States
// that are not known are of tasks that are not over: those that are, Slurm forgets.
func fateOf(state taskState) fate {
	switch state {
	case "NODE_FAIL", "BOOT_FAIL":
		return nodeDied
	case "PREEMPTED":
		return preempted
	case "CANCELLED", "TIMEOUT", "DEADLINE", "OUT_OF_MEMORY", "REVOKED":
		return stopped
	case "COMPLETED", "FAILED", "":
		return exited
	}
	return unfinished
}

// logTail is the end of what a task printed, to follow an error.
func logTail(dir *tree.Dir, task int) string {
	const most = 1000 // bytes
	text, err := dir.Read(taskLog(task))
	if err != nil {
		return "; it left no log: do the nodes share the file system of --points?"
	}
	text = text[max(0, len(text)-most):]
	if s := strings.TrimSpace(string(text)); s != "" {
		return "; it printed: " + s
	}
	return "; it printed nothing"
}

// cancel ends what was submitted, takes what had ended until then, and leaves the rest.
func (b *slurmBatch) cancel(ctx context.Context) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer done()
	err := b.tools.cancel(ctx, b.name) // also after an sbatch that said nothing
	switch {
	case b.submitted && err != nil:
		b.s.shown.say("%v; scancel --name=%s ends what was submitted", err, b.name)
	case b.submitted:
		b.waitUntilOver(ctx)
		b.gather()
	}
	for _, i := range b.waiting {
		b.s.shown.leave(i)
	}
	for _, a := range b.arrays {
		for k := range a.gone {
			b.s.shown.leave(a.jobs[k])
		}
	}
}

// waitUntilOver waits until no task of the batch is unfinished.
func (b *slurmBatch) waitUntilOver(ctx context.Context) {
	for ctx.Err() == nil {
		states, err := b.tools.tasks(ctx, b.name)
		over := err == nil
		for _, state := range states {
			over = over && fateOf(state) != unfinished
		}
		if over {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(askAtLeast):
		}
	}
}

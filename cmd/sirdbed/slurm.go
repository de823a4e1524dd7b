package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sirdbed/emu/tree"
	"sirdbed/scenarios/sweep"
)

// slurmOptions are the options of commands that can run their points over Slurm.
type slurmOptions struct {
	submit bool
	pass   []string
}

func (o *slurmOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.submit, "slurm", false,
		"run points as job arrays of Slurm; --points and the program must be on a file system that its nodes share")
	f.StringArrayVar(&o.pass, "slurm-option", nil,
		"give sbatch `OPTION`, such as --partition=long or --time=4:00:00 (repeatable)")
}

// check refuses options that do not go together. jobs are the points at once that were
// asked for.
func (o *slurmOptions) check(list []sweep.Job, jobs int) error {
	if !o.submit {
		if len(o.pass) > 0 {
			return badInput(errors.New("--slurm-option is for --slurm"))
		}
		return nil
	}
	for _, option := range o.pass {
		if !strings.HasPrefix(option, "-") {
			return badInput(fmt.Errorf("--slurm-option %s: want an option of sbatch, such as --partition=long", option))
		}
	}
	if jobs != 0 {
		return badInput(errors.New("--jobs is for points on this machine: " +
			"with --slurm, Slurm decides how many run at once"))
	}
	for i := range list {
		if e := list[i].Engine; engines[e].enter != nil {
			return badInput(fmt.Errorf("--slurm: engine %s is for the machine that it is started on; "+
				"use model or virtual", e))
		}
	}
	return badInput(slurmTools{}.check())
}

// maxArray is the most tasks of an array: MaxArraySize is 1001 unless configured, and the
// highest number is to be below it.
const maxArray = 1000

// maxRetries is how many times a point is submitted again whose task was lost.
const maxRetries = 3

// A slurmBatch runs points of a sweep as tasks of Slurm job arrays. Only one goroutine may
// use it. Each array has a directory in the batch's, which is in the points': files of
// tasks, their logs and outcomes.
type slurmBatch struct {
	s       *sweeper
	tools   slurmTools
	options []string // of sbatch, the user's
	program string   // this one's path
	store   string   // the points' path
	dir     *tree.Dir
	path    string // dir's
	name    string // of the batch's jobs, no other's

	waiting   []int       // jobs to be submitted, in order
	again     map[int]int // by job: how many times it was submitted again
	arrays    []*slurmArray
	made      int // directories of arrays
	submitted bool
	grace     time.Duration // see visible

	sbatch, squeue trouble
}

// A slurmArray is a job array, or what is still open of it.
type slurmArray struct {
	id   int64
	dir  *tree.Dir
	jobs []int             // of the sweep, by task
	gone map[int]time.Time // tasks without an outcome: since when the task is over, zero if it is not
}

// batchPrefix begins the names of batches' directories and jobs.
const batchPrefix = "sirdbed-"

// batchName is such a name: others have directories that begin the same.
var batchName = regexp.MustCompile("^" + batchPrefix + "[a-z2-7]{10}$")

// batchAge is how long the directory of a batch stays whose command was killed, or of which
// something failed. A command that lives marks its directory whenever it asks Slurm.
const batchAge = 7 * 24 * time.Hour

// removeOldBatches removes directories that nobody comes back to.
func removeOldBatches(store string) {
	entries, err := os.ReadDir(store)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		old := err == nil && time.Since(info.ModTime()) > batchAge
		if old && e.IsDir() && batchName.MatchString(e.Name()) {
			_ = os.RemoveAll(filepath.Join(store, e.Name()))
		}
	}
}

// mark shows that the batch's command lives.
func (b *slurmBatch) mark() {
	now := time.Now()
	_ = os.Chtimes(b.path, now, now)
}

// newSlurmBatch prepares to run jobs. close removes what it leaves.
func newSlurmBatch(s *sweeper, options []string, queue []int) (*slurmBatch, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	store, err := filepath.Abs(s.store.Path())
	if err != nil {
		return nil, err
	}
	removeOldBatches(store)
	b := &slurmBatch{
		s: s, tools: slurmTools{s.shown.say}, options: options, program: program, store: store,
		name:    batchPrefix + strings.ToLower(rand.Text()[:10]),
		waiting: slices.Clone(queue), again: map[int]int{}, grace: visible,
	}
	b.path = filepath.Join(store, b.name)
	b.dir, err = tree.Make(b.path)
	return b, explainPoints(err, store)
}

// submitNext submits as many of the jobs that wait as an array has room for. Jobs for which
// there is no time are left, and those that need not be run any more.
func (b *slurmBatch) submitNext(ctx context.Context) error {
	b.waiting = slices.DeleteFunc(b.waiting, func(i int) bool {
		leave := b.s.tooLate(&b.s.jobs[i]) || b.s.dropNeedless(i)
		if leave {
			b.s.shown.leave(i)
		}
		return leave
	})
	if len(b.waiting) == 0 {
		return nil
	}
	a := &slurmArray{jobs: slices.Clone(b.waiting[:min(maxArray, len(b.waiting))]), gone: map[int]time.Time{}}
	sub := fmt.Sprint(b.made)
	b.made++
	var err error
	if a.dir, err = b.dir.Make(sub); err != nil {
		return explainPoints(err, b.path)
	}
	for k, i := range a.jobs {
		if err := a.dir.WriteJSON(taskFile(k), b.task(i)); err != nil {
			b.drop(a)
			return explainPoints(err, b.path)
		}
		a.gone[k] = time.Time{}
	}
	path := filepath.Join(b.path, sub)
	// Not under ctx: a program that is killed may have submitted.
	a.id, err = b.tools.submit(context.WithoutCancel(ctx), b.script(path), b.arguments(path, len(a.jobs))...)
	if err != nil {
		b.drop(a)
		return err
	}
	b.arrays, b.waiting, b.submitted = append(b.arrays, a), b.waiting[len(a.jobs):], true
	b.s.shown.say("submitted %s to Slurm as job %d", count(len(a.jobs), "point"), a.id)
	return nil
}

// task is what the node is told of a job.
func (b *slurmBatch) task(i int) *pointTask {
	j := &b.s.jobs[i]
	t := &pointTask{
		Format: taskFormat, Name: j.Name(), Engine: j.Engine, Experiment: j.Experiment, Key: j.Address.Key,
		Code: j.Address.Code, Until: b.s.until,
	}
	if d, known := b.s.shown.expected(j); known {
		t.ExpectedSeconds = d.Seconds()
	}
	return t
}

// arguments are sbatch's for an array of n tasks. The last of an option counts. Slurm does not
// requeue a task whose node died: its tasks would wait until their credentials have expired,
// two minutes unless configured, and without end for a point that fells each node.
func (b *slurmBatch) arguments(path string, n int) []string {
	return append(slices.Clone(b.options), "--parsable", "--no-requeue", fmt.Sprintf("--array=0-%d", n-1),
		"--job-name="+b.name, "--chdir="+path, "--output=%a.log")
}

// script is what each task runs. A node may lack the submitter's directory for temporary files.
func (b *slurmBatch) script(path string) string {
	return fmt.Sprintf("#!/bin/sh\n[ -d \"${TMPDIR:-/tmp}\" ] || unset TMPDIR\n"+
		"exec %s sweep point %s/\"$SLURM_ARRAY_TASK_ID\".json --points %s\n",
		shellQuoted(b.program), shellQuoted(path), shellQuoted(b.store))
}

// shellQuoted is a text as one word of a shell.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// drop removes an array's directory, but for files of tasks that failed.
func (b *slurmBatch) drop(a *slurmArray) {
	for k := range a.gone {
		a.clear(k)
	}
	a.dir.Close()
	_ = b.dir.Remove(filepath.Base(a.dir.Path())) // it stays if something is in it
}

// clear removes a task's files.
func (a *slurmArray) clear(task int) {
	for _, name := range []string{taskFile(task), outcomeFile(taskFile(task)), taskLog(task)} {
		_ = a.dir.Remove(name)
	}
}

// close removes the batch's files, but for those of tasks that failed.
func (b *slurmBatch) close() {
	for _, a := range b.arrays {
		b.drop(a)
	}
	b.dir.Close()
	if err := os.Remove(b.path); err != nil {
		b.s.shown.say("what failed has its log and what it ran in %s", b.path)
	}
}

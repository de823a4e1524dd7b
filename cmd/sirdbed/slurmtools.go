package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// slurmTools are Slurm's programs, called by their names. Each method may be called from
// any goroutine, and returns after toolTime at the latest.
type slurmTools struct {
	say func(format string, args ...any) // for people, of a program that takes long; nil: nobody
}

// toolTime is how long a program of Slurm may take. They give up themselves when the
// controller does not answer for MessageTimeout, 10 s unless configured.
const toolTime = 2 * time.Minute

// quietTime is how long a program of Slurm takes before that is said.
const quietTime = 15 * time.Second

// check finds out whether the programs are there.
func (slurmTools) check() error {
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("--slurm: %s is not on this machine: run it where jobs can be submitted to Slurm, "+
				"with its programs in PATH (%w)", name, err)
		}
	}
	return nil
}

// A slurmTask is one task of a job array.
type slurmTask struct {
	Array int64 // the number of the array's job
	Task  int
}

// rest stands for the tasks of an array that have no line of their own: squeue has one line, with N/A, for those
// that were canceled before they began.
const rest = -1

// A taskState is what Slurm says of a task (squeue(1), job state codes).
type taskState string

// submit submits a script as a job array and returns its number.
func (s slurmTools) submit(ctx context.Context, script string, args ...string) (array int64, err error) {
	out, err := s.call(ctx, script, "sbatch", args...)
	if err != nil {
		return 0, err
	}
	text := strings.TrimSuffix(out, "\n")
	if !onlyDigits.MatchString(text) {
		return 0, fmt.Errorf("sbatch --parsable printed %q: want the number of a job alone, on the "+
			"one cluster of this machine", out)
	}
	return strconv.ParseInt(text, 10, 64)
}

var (
	onlyDigits = regexp.MustCompile(`^[0-9]{1,18}$`)
	taskLine   = regexp.MustCompile(`^([0-9]{1,18})\|([0-9]{1,9}|N/A)\|([A-Z_]+)$`)
)

// tasks lists the tasks of the user's jobs of a name that the controller knows. It forgets
// those that have ended after MinJobAge, 300 s unless configured.
func (s slurmTools) tasks(ctx context.Context, name string) (map[slurmTask]taskState, error) {
	out, err := s.call(ctx, "", "squeue", "--noheader", "--array", "--states=all", "--me", "--name="+name,
		"--format=%F|%K|%T")
	if err != nil {
		return nil, err
	}
	return parseTasks(out)
}

func parseTasks(out string) (map[slurmTask]taskState, error) {
	list := map[slurmTask]taskState{}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		m := taskLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("squeue printed %q: want ARRAY|TASK|STATE", line)
		}
		array, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return nil, err
		}
		task := rest
		if m[2] != "N/A" {
			if task, err = strconv.Atoi(m[2]); err != nil {
				return nil, err
			}
		}
		list[slurmTask{array, task}] = taskState(m[3])
	}
	return list, nil
}

// cancel ends all jobs of a name, which is one batch's alone.
func (s slurmTools) cancel(ctx context.Context, name string) error {
	_, err := s.call(ctx, "", "scancel", "--name="+name)
	return err
}

// call runs a program. What the user's environment has to filter and format the output of
// squeue and scancel is left out.
func (s slurmTools) call(ctx context.Context, stdin, name string, args ...string) (stdout string, err error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "SQUEUE_") || strings.HasPrefix(v, "SCANCEL_")
	})
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if s.say != nil {
		waiting := time.AfterFunc(quietTime, func() { s.say("waiting for %s, for %v at most", name, toolTime) })
		defer waiting.Stop()
	}
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no answer in %v", toolTime)
		}
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(complaints.String()))
	}
	return out.String(), nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sirdbed/capture/report"
	"sirdbed/emu/tree"

	"github.com/spf13/cobra"
)

// pruneOptions select the results to remove.
type pruneOptions struct {
	older  age
	keep   int // -1: not given
	dryRun bool
}

func newPrune() *cobra.Command {
	o := pruneOptions{keep: -1}
	var asJSON bool
	c := &cobra.Command{
		Use:   "prune [DIRECTORY]",
		Short: "Remove old results",
		Long: text(`
			Remove the results in DIRECTORY (default: ` + resultsDir + `) that are older than --older and not among
			the newest that --keep keeps. One of the two must be given.

			Only results of sirdbed are ever removed, and none whose run is in progress, that this version cannot read,
			or that contains files that sirdbed did not write.`),
		Example: examples(`
			sirdbed results prune --older 30d --dry-run
			sirdbed results prune --keep 20
			sirdbed results prune /data/runs --older 2w --keep 5`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: first(directories),
		RunE: func(c *cobra.Command, args []string) error {
			switch given := c.Flags().Changed("keep"); {
			case given && o.keep < 0:
				return badInput(fmt.Errorf("--keep %d: want 0 or more", o.keep))
			case !given && o.older == 0:
				return badInput(errors.New("prune needs --older AGE, --keep N or both"))
			}
			l, err := listResults(directory(args))
			if err != nil {
				return err
			}
			p, err := prune(l, o, time.Now())
			if asJSON {
				err = errors.Join(err, printJSON(c.OutOrStdout(), p))
			} else {
				p.print(c.OutOrStdout())
			}
			return err
		},
	}
	f := c.Flags()
	f.Var(&o.older, "older", "remove only results older than `AGE`: 30d, 2w, 12h")
	f.IntVar(&o.keep, "keep", -1, "keep the newest `N` results")
	f.Lookup("keep").DefValue = "0" // so that help shows none
	f.BoolVar(&o.dryRun, "dry-run", false, "remove nothing, only print what would be removed")
	f.BoolVar(&asJSON, "json", false, "print JSON, with sizes in bytes")
	completeFlag(c, "older", noFiles)
	completeFlag(c, "keep", noFiles)
	return c
}

// An age is a time.Duration that may be in days or weeks too.
type age time.Duration

// Type implements pflag.Value.
func (*age) Type() string { return "age" }

// String implements pflag.Value.
func (a *age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

// Set implements pflag.Value.
func (a *age) Set(s string) error {
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		number, ok := strings.CutSuffix(s, suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || !(n >= 0) { // NaN too
			break
		}
		// As a float the largest Duration is 2^63, which is one too many.
		if n *= float64(unit); n >= math.MaxInt64 {
			return fmt.Errorf("want an age of at most %d years", time.Duration(math.MaxInt64)/(365*24*time.Hour))
		}
		return a.set(time.Duration(n))
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return errors.New("want an age such as 30d, 2w or 12h")
	}
	return a.set(d)
}

// set takes an age that is not negative.
func (a *age) set(d time.Duration) error {
	if d == 0 {
		return errors.New("want an age above 0, such as 30d, 2w or 12h: for results of any age, use --keep 0")
	}
	*a = age(d)
	return nil
}

// A Pruning is what results prune --json prints.
type Pruning struct {
	Directory string      `json:"directory"`
	DryRun    bool        `json:"dry_run"`
	Removed   []ListedRun `json:"removed"`
	Kept      int         `json:"kept"`
	Spared    []Spared    `json:"left_alone"` // that would have gone, but for a reason
	Freed     int64       `json:"freed_bytes"`
}

// A Spared is a result that prune leaves alone.
type Spared struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// prune removes results. Its error joins those of the ones that could not be removed.
func prune(l *Listing, o pruneOptions, now time.Time) (*Pruning, error) {
	p := &Pruning{Directory: l.Directory, DryRun: o.dryRun, Removed: []ListedRun{}, Spared: []Spared{}}
	var failed []error
	for i, r := range l.Results {
		if o.keep >= 0 && i < o.keep || o.older > 0 && now.Sub(r.Created) < time.Duration(o.older) {
			p.Kept++
			continue
		}
		reason, err := r.prune(o.dryRun)
		switch {
		case reason != "":
			p.Spared = append(p.Spared, Spared{r.Name, reason})
		case err != nil:
			failed = append(failed, errors.New(report.Printable(err.Error())))
		default:
			p.Removed = append(p.Removed, r)
			p.Freed += r.Size
		}
	}
	return p, errors.Join(failed...)
}

// prune removes a result, unless there is a reason to spare it, or dry says to only
// look for one. Nobody writes the result meanwhile.
func (r *ListedRun) prune(dry bool) (reason string, err error) {
	if !dry && r.State != Running && r.State != Unreadable {
		unlock, err := lockForRemoval(r.path)
		if errors.Is(err, errBusy) {
			return "it " + errBusy.Error(), nil
		}
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	names, reason := r.spared()
	if reason != "" || dry {
		return reason, nil
	}
	return "", r.remove(names)
}

// lockForRemoval is lockResult of a result that is about to be removed. Who may not
// write it cannot lock it, but sees whether somebody else has.
func lockForRemoval(path string) (release func(), err error) {
	dir, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	release, err = lockResult(dir)
	if errors.Is(err, fs.ErrPermission) && !beingWritten(dir) {
		return func() {}, nil
	}
	if err == nil && !lockedMoves {
		release()
	}
	return release, err
}

// spared returns why a result must not be removed, "" if it may be, and the names
// of what is in it.
func (r *ListedRun) spared() (names []string, reason string) {
	switch r.State {
	case Running:
		return nil, "its run is in progress"
	case Unreadable:
		return nil, r.Problem
	}
	dir, err := tree.Open(r.path)
	if err == nil {
		defer dir.Close()
		names, err = contentsOf(dir)
	}
	if err != nil {
		return nil, err.Error()
	}
	return names, ""
}

// remove removes a result and nothing that is not among names.
func (r *ListedRun) remove(names []string) error {
	all, err := tree.Open(filepath.Dir(r.path))
	if err != nil {
		return err
	}
	defer all.Close()
	return removeResult(all, r.Name, names)
}

func (p *Pruning) print(w io.Writer) {
	verb, removed, freed := "removed", "removed", "freed"
	if p.DryRun {
		verb, removed, freed = "would remove", "to remove", "to free"
	}
	for _, r := range p.Removed {
		fmt.Fprintf(w, "%s %s (%s)\n", verb, report.Printable(r.path), humanSize(r.Size))
	}
	for _, s := range p.Spared {
		fmt.Fprintf(w, "left alone: %s: %s\n", report.Printable(s.Name), report.Printable(s.Reason))
	}
	fmt.Fprintf(w, "%s %s, %s %s; %d kept\n",
		count(len(p.Removed), "result"), removed, humanSize(p.Freed), freed, p.Kept+len(p.Spared))
}

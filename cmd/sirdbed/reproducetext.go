package main

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/scenarios/reproduce"
)

// The titles of the page and RESULTS.md, and of their last part.
const (
	reproducedTitle = "SIRD's evaluation, reproduced"
	madeTitle       = "How it was made"
)

// lead says what was run, and what agrees.
func (r *reproduction) lead() []string {
	seeds, others := map[uint64]bool{}, ""
	for _, p := range r.f.Points {
		if p == nil {
			continue
		}
		seeds[p.Experiment.Seed] = true
		if string(p.Engine) != r.o.engine {
			others = fmt.Sprintf(" (kernel TCP on %s)", p.Engine)
		}
	}
	runs := "one seed"
	if len(seeds) > 1 {
		runs = fmt.Sprintf("up to %d seeds", len(seeds))
	}
	list := []string{fmt.Sprintf("The evaluation of the SIRD paper (NSDI '25, section 6), run again on the engine "+
		"%s%s and compared with the printed numbers. Scale %s: %d of %d points, %s.", r.o.engine, others, r.o.scale,
		r.there(), r.there()+r.missing(), runs)}
	if summary := r.comparison.Summary(); summary != "" {
		list = append(list, summary)
	}
	if r.missing() > 0 {
		var rounds []string
		for round, n := range r.missingByRound() {
			if n > 0 {
				rounds = append(rounds, fmt.Sprintf("%s (%d)", reproduce.Rounds[round], n))
			}
		}
		list = append(list, "Not run yet: "+strings.Join(rounds, "; ")+".")
	}
	return list
}

// conditions say how what was run differs from the paper's words, and from its simulator.
func (r *reproduction) conditions() (list []string) {
	arrivals := "Unless noted, arrivals are those of the released simulator: message gaps and sizes of one seed, " +
		"presumably the printed runs' too (the paper says Poisson)."
	if slices.ContainsFunc(r.f.Points, func(p *points.Point) bool { return p != nil && p.Protocol() == "dcpim" }) {
		arrivals += " dcPIM is the exception: its printed numbers come from its authors' simulator, so it runs as " +
			"it does there, except that buffers are infinite here. Arrivals are Poisson, every data packet is " +
			"full-sized, a sender's queue is unordered, links have a delay of 0.65 us, messages get no reply, and " +
			"slowdown runs to the acknowledgement; by the others' definition it would be higher. Whether the " +
			"printed runs had all of that is not known."
	}
	list = append(list, arrivals)
	if r.o.scale == "paper" && r.o.samples == 1 {
		list = append(list, "The tables' points at half load have as many messages as the paper's, and so have those "+
			"of the last round, which are run again since they set a table's maximum. All others but the testbed's "+
			"have a third. Warm-ups are shorter than the simulator's, which leaves out the first nine tenths of a "+
			"run. Where more is offered than carried, goodput, slowdown and some queues rise with the length of a "+
			"point: with all messages SIRD and Homa carry 1.2 to 1.3 Gbps more of WKc at 95 % in Balanced. So "+
			"settings of a protocol, and protocols at other loads than half, are compared by points of one length; "+
			"figures 1, 6 and 13 have both.")
	}
	return list
}

// distinct are the points that are there: one that studies share once.
func (r *reproduction) distinct() iter.Seq[*points.Point] {
	return func(yield func(*points.Point) bool) {
		seen := map[points.Address]bool{}
		for i, p := range r.f.Points {
			address := r.f.Jobs[i].Address
			if p == nil || seen[address] {
				continue
			}
			if seen[address] = true; !yield(p) {
				return
			}
		}
	}
}

// made says when and by what the points were run.
func (r *reproduction) made() []string {
	var from, to time.Time
	codes, versions, machines, wall := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0.0
	for p := range r.distinct() {
		codes[p.Protocol()+" "+p.Code], versions[p.Go] = true, true
		machines[cmp.Or(p.Machine, "a machine that was not noted")] = true
		wall += p.Result.WallSeconds
		if from.IsZero() || p.Finished.Before(from) {
			from = p.Finished
		}
		if p.Finished.After(to) {
			to = p.Finished
		}
	}
	first, last := from.Format(time.DateOnly), to.Format(time.DateOnly)
	when := "on " + first
	if last != first {
		when = "between " + first + " and " + last
	}
	return []string{
		fmt.Sprintf("The points took %s in all, and finished %s. Machine: %s. Go: %s.",
			rough(inSeconds(wall)), when, strings.Join(slices.Sorted(maps.Keys(machines)), "; "),
			sortedNames(versions)),
		"Code they depend on: " + sortedNames(codes) + "." + r.takenOver(),
	}
}

// takenOver says how many points earlier code made, and what shows that today's would make them.
func (r *reproduction) takenOver() string {
	n, repeated := 0, map[string]bool{}
	for p := range r.distinct() {
		if p.Made == nil {
			continue
		}
		n++
		repeated[fmt.Sprintf("%s %d of %d", p.Protocol(), p.Made.Repeated, p.Made.Of)] = true
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" Earlier code made %d of them; some of these were run again by this code, with the same "+
		"figures: %s.", n, sortedNames(repeated))
}

// sortedNames lists names between commas.
func sortedNames(names map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// markdown is RESULTS.md.
func (r *reproduction) markdown() ([]byte, error) {
	var b bytes.Buffer
	first := slices.Concat(r.lead(), r.conditions(), r.notes())
	fmt.Fprintf(&b, "# %s\n\n%s\n", reproducedTitle, strings.Join(first, "\n\n"))
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		if err := report.MarkdownTables(&b, s.Tables); err != nil {
			return nil, err
		}
	}
	writeFigures(&b, r.figures)
	fmt.Fprintf(&b, "\n## %s\n\n    %s\n", madeTitle, r.command)
	for _, text := range r.made() {
		fmt.Fprintf(&b, "\n%s\n", report.MarkdownText(text)) // machines name themselves
	}
	return b.Bytes(), nil
}

// writeFigures writes pictures under the headings that they share.
func writeFigures(b *bytes.Buffer, list []report.Figure) {
	fmt.Fprint(b, "\n## Figures\n")
	for _, set := range report.Sets(list) {
		fmt.Fprintf(b, "\n### %s\n", set.Heading)
		if set.Caption != "" {
			fmt.Fprintf(b, "\n%s\n", set.Caption)
		}
		for i := range set.Figures {
			f := &set.Figures[i]
			fmt.Fprintf(b, "\n![%s](plots/%s.svg)\n", f.Title, f.Name)
			if f.Caption != "" {
				fmt.Fprintf(b, "\n%s\n", f.Caption)
			}
		}
	}
}

package main

import (
	"bytes"
	"cmp"
	"fmt"
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
				rounds = append(rounds, fmt.Sprintf("%d of %s", n, reproduce.Rounds[round]))
			}
		}
		list = append(list, "Not run yet, and left out or marked as such: "+strings.Join(rounds, "; ")+".")
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
		text := "The tables' points at half load, and those that set a table's maximum, have as many messages as the " +
			"paper's. All others, and so most of figures 2 and 6 to 13, have a third, and warm-ups are shorter than " +
			"the simulator's, which leaves out the first nine tenths of a run. Where more is offered than carried, " +
			"goodput, slowdown and some queues rise with the length of a point: with all messages SIRD and Homa " +
			"carry 1.2 to 1.3 Gbps more of WKc at 95 %. So settings of a protocol, and protocols at 70 %, are " +
			"compared by points of one length; figures 6 and 13 have both."
		if n := r.f.ShortMaxima(); n > 0 {
			text += fmt.Sprintf(" Of those that are to have all messages since they set a maximum, %d have a third "+
				"so far.", n)
		}
		list = append(list, text)
	}
	return list
}

// made says when and by what the points were run.
func (r *reproduction) made() []string {
	var from, to time.Time
	codes, versions, machines, wall := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0.0
	counted := map[points.Address]bool{} // figures share points
	for i, p := range r.f.Points {
		if p == nil || counted[r.f.Jobs[i].Address] {
			continue
		}
		counted[r.f.Jobs[i].Address] = true
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
	points, repeated := 0, map[string]bool{}
	for _, p := range r.f.Points {
		if p == nil || p.Made == nil {
			continue
		}
		points++
		repeated[fmt.Sprintf("%s %d of %d", p.Protocol(), p.Made.Repeated, p.Made.Of)] = true
	}
	if points == 0 {
		return ""
	}
	return fmt.Sprintf(" Earlier code made %d of them; some of these were run again by this code, with the same "+
		"figures: %s.", points, sortedNames(repeated))
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

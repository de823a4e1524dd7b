package paper

import (
	"fmt"
	"math"
	"strings"
)

// A Score is how many of something are right, of those that were run.
type Score struct {
	Right  int `json:"right"`
	Run    int `json:"run"`
	NotRun int `json:"not_run"`
}

// of is "right of run", for sentences.
func (s Score) of() string { return fmt.Sprintf("%d of %d", s.Right, s.Run) }

// Share is what part of those that were run is right, 0 where none was.
func (s Score) Share() float64 {
	if s.Run == 0 {
		return 0
	}
	return float64(s.Right) / float64(s.Run)
}

// add counts one more.
func (s *Score) add(run, right bool) {
	switch {
	case !run:
		s.NotRun++
	case right:
		s.Right++
		s.Run++
	default:
		s.Run++
	}
}

// join counts those of another score as well.
func (s *Score) join(other Score) {
	s.Right += other.Right
	s.Run += other.Run
	s.NotRun += other.NotRun
}

// Scores are what a comparison comes to. Suspect prints, and orders with one of
// them, are in the scores of their own alone. A number that is unstable here is run, and not
// right.
type Scores struct {
	SIRD   Score `json:"sird"`   // numbers within SIRD's tolerance
	Others Score `json:"others"` // numbers within that of the other protocols

	// All numbers, by one and the other tolerance whatever their protocol is.
	Within15 Score `json:"within_15_percent"`
	Within25 Score `json:"within_25_percent"`

	// Of the suspect prints.
	Suspect15 Score `json:"suspect_within_15_percent"`
	Suspect25 Score `json:"suspect_within_25_percent"`

	Unstable     Score `json:"unstable"`      // printed so, and so here
	UnstableHere int   `json:"unstable_here"` // numbers in print, suspect or not

	Orders        Score `json:"orders"` // of pairs of protocols that the print tells apart
	SuspectOrders Score `json:"suspect_orders"`

	Tables map[string]TableScores `json:"tables"` // by table, without suspect prints
	// Completed are those of MaxGoodput's prints beside MaxCompleted. They count nowhere else.
	Completed TableScores `json:"completed"`
}

// TableScores are the scores of one of the paper's tables.
type TableScores struct {
	Within5  Score `json:"within_5_percent"`
	Within15 Score `json:"within_15_percent"`
	Within25 Score `json:"within_25_percent"`
	// By25 counts the same numbers, right if the median of the other protocols' prints of the configuration
	// and workload is within 25 % of the print: what a guess that knows nothing of the protocol comes to.
	By25   Score `json:"guess_within_25_percent"`
	Orders Score `json:"orders"`
}

// score counts the rows.
func (c *Comparison) score() (s Scores) {
	s.Tables = c.scoreTables()
	s.Completed = (&Comparison{Rows: c.completed()}).scoreTables()[MaxCompleted]
	s.Completed.By25 = s.Tables[MaxGoodput].By25
	for _, t := range s.Tables {
		s.Within15.join(t.Within15)
		s.Within25.join(t.Within25)
		s.Orders.join(t.Orders)
	}
	for _, r := range c.Rows {
		p, run := r.Print, r.Here != nil
		switch {
		case r.Verdict == NotPrinted:
			continue
		case p.Unstable:
			s.Unstable.add(run, r.Verdict == BothUnstable)
			continue
		case p.Suspect != "":
			s.Suspect15.add(run, r.isWithin(0.15))
			s.Suspect25.add(run, r.isWithin(0.25))
		case p.Cell.Protocol == "sird":
			s.SIRD.add(run, r.Within)
		default:
			s.Others.add(run, r.Within)
		}
		if run && r.Here.Unstable {
			s.UnstableHere++
		}
	}
	for _, o := range c.Orders() {
		if o.Suspect {
			s.SuspectOrders.add(o.Run, o.Right)
		}
	}
	return s
}

// Summary says in some sentences what agrees, of what was run; "" where no printed cell was.
func (c *Comparison) Summary() string {
	run, all := map[string]int{}, map[string]int{}
	worst, numbers := 0.0, 0 // of SIRD
	for _, r := range c.Rows {
		if r.Verdict == NotPrinted {
			continue
		}
		all[r.Print.Cell.Table]++
		if r.Here != nil {
			run[r.Print.Cell.Table]++
		}
		if r.isNumber() && r.Print.Cell.Protocol == "sird" {
			worst, numbers = max(worst, math.Abs(r.Ratio-1)), numbers+1
		}
	}
	var tables []string
	cells := 0
	for _, t := range PrintedTables {
		name, _, _ := strings.Cut(titles[t], ",") // without its unit
		tables = append(tables, fmt.Sprintf("%s (%d of %d)", name, run[t], all[t]))
		cells += run[t]
	}
	if cells == 0 {
		return ""
	}
	s, sird := c.Scores, ""
	goodput, slow, queue := s.Tables[MaxGoodput], s.Tables[P99Slowdown], s.Tables[MaxTorQueue]
	if s.SIRD.Run > 0 {
		sird = fmt.Sprintf(" SIRD: %s numbers within 15 %% of the print", s.SIRD.of())
		if numbers > 0 {
			sird += fmt.Sprintf(", the furthest %.0f %% off", 100*worst)
		}
		sird += "."
	}
	text := fmt.Sprintf("Cells of the appendix's tables that were run: %s.%s All protocols: %s numbers within "+
		"25 %% of the print, %d within 15 %%%s.", strings.Join(tables, ", "), sird, s.Within25.of(), s.Within15.Right,
		each([]part{
			{slow.Within15, "slowdowns %s within 15 %%"},
			{goodput.Within5, "goodputs, which differ less from one protocol to another, %s within 5 %%"},
			{queue.Within25, "queues %s within 25 %%"},
		}))
	if s.Orders.Run == 0 {
		return text
	}
	byMessages := ""
	if s.Completed.Orders.Run > 0 {
		byMessages = fmt.Sprintf(" (by messages completed, as the simulator counts, %s)", s.Completed.Orders.of())
	}
	return text + fmt.Sprintf(" Of pairs of protocols whose prints are more than 10 %% apart (goodputs 5 %%), %s are "+
		"in the order of the print%s.", s.Orders.of(),
		each([]part{
			{slow.Orders, "of slowdowns %s"},
			{goodput.Orders, "of goodputs %s" + byMessages},
			{queue.Orders, "of queues %s"},
		}))
}

// A part of what a summary says has a score for %s.
type part struct {
	score Score
	text  string
}

// each lists the parts of which something was run, behind a colon.
func each(parts []part) string {
	var list []string
	for _, p := range parts {
		if p.score.Run > 0 {
			list = append(list, fmt.Sprintf(p.text, p.score.of()))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

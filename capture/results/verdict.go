package results

// A Level is how far a run's figures can be trusted (package verdict).
type Level string

// The levels, from good to bad.
const (
	Pass     Level = "PASS"
	Degraded Level = "DEGRADED" // the machine shows in the figures
	Invalid  Level = "INVALID"  // the figures cannot be trusted
)

// Worse returns the worse of two levels.
func (l Level) Worse(other Level) Level {
	rank := map[Level]int{"": 0, Pass: 0, Degraded: 1, Invalid: 2}
	if rank[other] > rank[l] {
		return other
	}
	return l
}

// A Check is one part of the verdict: what was looked at, what was found, and when
// it passes.
type Check struct {
	Name  string `json:"name"`
	Level Level  `json:"level"`
	Found string `json:"found"`
	Limit string `json:"limit"` // when it passes, and what follows beyond
}

// A Verdict is a run's fidelity.
type Verdict struct {
	Level   Level    `json:"level"`
	Reasons []string `json:"reasons"` // one for each check that did not pass
	Checks  []Check  `json:"checks"`
}

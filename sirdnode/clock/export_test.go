package clock

// Uncertainty returns by how many ns ToMonotonic may be off.
func (r *Realtime) Uncertainty() int64 { return (r.hi - r.lo + 1) / 2 }

// Steps returns how often the machine's date was found to have been set.
func (r *Realtime) Steps() int { return r.steps }

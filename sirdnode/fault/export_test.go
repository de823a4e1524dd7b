package fault

// Len returns how many frames are held.
func (h *Hold) Len() int { return h.used }

// Refused returns how many frames Put had no room for.
func (h *Hold) Refused() uint64 { return h.full }

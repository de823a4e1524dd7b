package model

// A heap is a 4-ary heap of entries with an index, in which an entity has one at most.
type heap struct {
	entries []entry
	at      []int32 // by entity: index in entries + 1, 0 if it has no entry
}

func newHeap(entities int) heap {
	return heap{entries: make([]entry, 0, entities), at: make([]int32, entities)}
}

// set enters an entity, or moves it.
func (h *heap) set(id int, e entry) {
	i := int(h.at[id]) - 1
	if i < 0 {
		i = len(h.entries)
		h.entries = append(h.entries, e)
		h.up(i, e)
		return
	}
	if i > 0 && e.before(h.entries[(i-1)/4]) {
		h.up(i, e)
	} else {
		h.down(i, e)
	}
}

// clear takes an entity out, if it is in.
func (h *heap) clear(id int) {
	i := int(h.at[id]) - 1
	if i < 0 {
		return
	}
	h.at[id] = 0
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries = h.entries[:last]
	if i == last {
		return
	}
	if i > 0 && e.before(h.entries[(i-1)/4]) {
		h.up(i, e)
	} else {
		h.down(i, e)
	}
}

// up puts e where it belongs, at i or above.
func (h *heap) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h.entries[parent]) {
			break
		}
		h.place(i, h.entries[parent])
		i = parent
	}
	h.place(i, e)
}

// down puts e where it belongs, at i or below.
func (h *heap) down(i int, e entry) {
	entries := h.entries
	for {
		child := 4*i + 1
		if child >= len(entries) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(entries)); c++ {
			if entries[c].before(entries[least]) {
				least = c
			}
		}
		if !entries[least].before(e) {
			break
		}
		h.place(i, entries[least])
		i = least
	}
	h.place(i, e)
}

func (h *heap) place(i int, e entry) {
	h.entries[i] = e
	h.at[e.id()] = int32(i + 1)
}

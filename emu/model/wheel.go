package model

import "math/bits"

// A wheel has entries of the near future in slots of 256 ps: with some hundred links busy,
// about one in each. Entering, taking out and finding the first take some ns, whatever
// there is in it.
type wheel struct {
	now   int64 // slot, counted from time 0: no entry is of one before
	slots []int32
	last  []int32 // the last of a slot's entries, where slots has its first
	full  [wheelSlots / 64]uint64
	words [wheelSlots / 64 / 64]uint64 // those of full that are not 0
	cards []card                       // by entity
}

// A card is an entity's entry, in the list of its slot: in order.
type card struct {
	entry
	slot       int32 // of the wheel + 1, 0 if it has no entry
	prev, next int32 // entities, none at the ends
}

const (
	slotBits   = 8 // of ps
	wheelSlots = 1 << 13
	none       = int32(-1)
)

func newWheel(entities int) wheel {
	w := wheel{slots: make([]int32, wheelSlots), last: make([]int32, wheelSlots), cards: make([]card, entities)}
	return w
}

// reaches reports whether an entry of that time belongs here.
func (w *wheel) reaches(ps int64) bool { return ps>>slotBits-w.now < wheelSlots }

// reach moves the wheel on, over slots that have nothing.
func (w *wheel) reach(ps int64) { w.now = max(w.now, ps>>slotBits) }

// set enters an entity's entry, which is the last of those with its time, or moves it.
func (w *wheel) set(id int, e entry) {
	w.clear(id)
	slot := int32(max(e.ps>>slotBits, w.now) & (wheelSlots - 1))
	c := &w.cards[id]
	c.entry, c.slot, c.prev, c.next = e, slot+1, none, none
	word := uint(slot) / 64
	if w.full[word]>>(uint(slot)%64)&1 == 0 {
		w.full[word] |= 1 << (uint(slot) % 64)
		w.words[word/64] |= 1 << (word % 64)
		w.slots[slot], w.last[slot] = int32(id), int32(id)
		return
	}
	after := w.last[slot]
	for after != none && w.cards[after].ps > e.ps {
		after = w.cards[after].prev
	}
	c.prev = after
	if after == none {
		c.next, w.slots[slot] = w.slots[slot], int32(id)
	} else {
		c.next, w.cards[after].next = w.cards[after].next, int32(id)
	}
	if c.next == none {
		w.last[slot] = int32(id)
	} else {
		w.cards[c.next].prev = int32(id)
	}
}

// clear takes an entity's entry out, if it has one.
func (w *wheel) clear(id int) {
	c := &w.cards[id]
	if c.slot == 0 {
		return
	}
	slot := c.slot - 1
	c.slot = 0
	if c.prev == none && c.next == none {
		word := uint(slot) / 64
		if w.full[word] &^= 1 << (uint(slot) % 64); w.full[word] == 0 {
			w.words[word/64] &^= 1 << (word % 64)
		}
		return
	}
	if c.prev == none {
		w.slots[slot] = c.next
	} else {
		w.cards[c.prev].next = c.next
	}
	if c.next == none {
		w.last[slot] = c.prev
	} else {
		w.cards[c.next].prev = c.prev
	}
}

// first returns the first entry; false if there is none.
func (w *wheel) first() (entry, bool) {
	begin := uint(w.now) & (wheelSlots - 1)
	word := begin / 64
	if b := w.full[word] >> (begin % 64); b != 0 {
		return w.head(begin + uint(bits.TrailingZeros64(b))), true
	}
	// The words after that one, and then from the wheel's begin up to it, its low bits included.
	group := (word + 1) / 64
	if group < uint(len(w.words)) {
		if b := w.words[group] >> ((word + 1) % 64) << ((word + 1) % 64); b != 0 {
			return w.headOf(group, b), true
		}
		for g := group + 1; g < uint(len(w.words)); g++ {
			if b := w.words[g]; b != 0 {
				return w.headOf(g, b), true
			}
		}
	}
	for g := range uint(len(w.words)) {
		if b := w.words[g]; b != 0 {
			return w.headOf(g, b), true
		}
	}
	return entry{}, false
}

// headOf is the first entry in the first word of a group's.
func (w *wheel) headOf(group uint, words uint64) entry {
	word := group*64 + uint(bits.TrailingZeros64(words))
	return w.head(word*64 + uint(bits.TrailingZeros64(w.full[word])))
}

func (w *wheel) head(slot uint) entry { return w.cards[w.slots[slot]].entry }

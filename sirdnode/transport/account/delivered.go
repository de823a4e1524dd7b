package account

import "sirdbed/sirdnode/transport"

// delivered is a set of ids above a floor: as bits where they are near it, as most are, and in
// a map else. The zero value is empty.
type delivered struct {
	count int                  // bits
	near  [nearIDs / 64]uint64 // by id modulo nearIDs: of those less than nearIDs above the floor
	far   map[transport.MessageID]struct{}
}

// nearIDs is how far above the floor a bit stands for an id. In the paper's fabric at half load
// with the smallest messages (WKa), hosts number some 30 a ms for each other.
const nearIDs = 256

// bit returns the word and the bit of an id.
func (d *delivered) bit(id transport.MessageID) (word *uint64, bit uint64) {
	return &d.near[id%nearIDs/64], 1 << (id % 64)
}

// add takes an id in, unless it is below the floor.
func (d *delivered) add(id, floor transport.MessageID) {
	if int32(id-floor) < 0 || d.has(id, floor) {
		return
	}
	if id-floor < nearIDs {
		word, bit := d.bit(id)
		*word |= bit
		d.count++
		return
	}
	if d.far == nil {
		d.far = map[transport.MessageID]struct{}{}
	}
	d.far[id] = struct{}{}
}

// has reports whether an id at or above the floor is in the set.
func (d *delivered) has(id, floor transport.MessageID) bool {
	if word, bit := d.bit(id); id-floor < nearIDs && *word&bit != 0 {
		return true
	}
	if len(d.far) == 0 {
		return false
	}
	_, ok := d.far[id]
	return ok
}

// len returns how many ids are in the set.
func (d *delivered) len() int { return d.count + len(d.far) }

// raise takes the ids from one floor up to the next out.
func (d *delivered) raise(from, floor transport.MessageID) {
	rise := floor - from
	if d.count > 0 {
		for k := range min(rise, nearIDs) {
			if word, bit := d.bit(from + k); *word&bit != 0 {
				*word &^= bit
				d.count--
			}
		}
	}
	// Step by step while that is less work than going over all: a header may raise the floor by
	// any distance.
	if int(rise) <= len(d.far) {
		for k := range rise {
			delete(d.far, from+k)
		}
		return
	}
	for id := range d.far {
		if int32(id-floor) < 0 {
			delete(d.far, id)
		}
	}
}

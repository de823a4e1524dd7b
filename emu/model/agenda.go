package model

// An agenda is when each entity of the simulation is due next. Every entity
// (a link, a port, a host) has at most one entry, so the agenda never has
// more than there are entities, however many packets are under way, and a timer
// that is put off leaves nothing behind.
//
// Entries are ordered by time and, among equals, by who was entered first. Those of
// the next two microseconds, which packets make, are in a wheel; timers are in a heap.
type agenda struct {
	soon  wheel
	later heap
	seq   uint64
}

// An entry is 16 bytes, so that four children share a cache line.
type entry struct {
	ps    int64
	order uint64 // sequence number, then entity
}

// idBits is enough for topo's largest fabric; the other 44 bits count entries.
const idBits = 20

func (e entry) id() int { return int(e.order & (1<<idBits - 1)) }

func (e entry) before(o entry) bool { return e.ps < o.ps || e.ps == o.ps && e.order < o.order }

func newAgenda(entities int) agenda {
	if entities > 1<<idBits {
		panic("model: the fabric has more links and hosts than the agenda can tell apart")
	}
	return agenda{soon: newWheel(entities), later: newHeap(entities)}
}

// set enters an entity, or moves it.
func (a *agenda) set(id int, ps int64) {
	a.seq++
	e := entry{ps, a.seq<<idBits | uint64(id)}
	if a.soon.reaches(ps) {
		a.later.clear(id)
		a.soon.set(id, e)
	} else {
		a.soon.clear(id)
		a.later.set(id, e)
	}
}

// clear takes an entity out, if it is in.
func (a *agenda) clear(id int) {
	a.soon.clear(id)
	a.later.clear(id)
}

// first returns the first entry; false if there is none.
func (a *agenda) first() (e entry, ok bool) {
	e, ok = a.soon.first()
	if len(a.later.entries) > 0 {
		if l := a.later.entries[0]; !ok || l.before(e) {
			return l, true
		}
	}
	return e, ok
}

// reach says that it is ps, and nothing is entered before that any more.
func (a *agenda) reach(ps int64) { a.soon.reach(ps) }

package model

// An agenda is when each entity of the simulation is due next. Every entity
// (a link, a port, a host) has at most one entry, so the agenda never has
// more than there are entities, however many packets are under way, and a timer
// that is put off leaves nothing behind.
//
// It is a 4-ary heap with an index, ordered by time and, among equals, by who
// was entered first: ties never depend on the heap's shape.
type agenda struct {
	heap []entry
	at   []int32 // by entity: index in heap + 1, 0 if it has no entry
	seq  uint64
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
	return agenda{heap: make([]entry, 0, entities), at: make([]int32, entities)}
}

// set enters an entity, or moves it.
func (a *agenda) set(id int, ps int64) {
	a.seq++
	e := entry{ps, a.seq<<idBits | uint64(id)}
	i := int(a.at[id]) - 1
	if i < 0 {
		i = len(a.heap)
		a.heap = append(a.heap, e)
		a.up(i, e)
		return
	}
	if i > 0 && e.before(a.heap[(i-1)/4]) {
		a.up(i, e)
	} else {
		a.down(i, e)
	}
}

// clear takes an entity out, if it is in.
func (a *agenda) clear(id int) {
	i := int(a.at[id]) - 1
	if i < 0 {
		return
	}
	a.at[id] = 0
	last := len(a.heap) - 1
	e := a.heap[last]
	a.heap = a.heap[:last]
	if i == last {
		return
	}
	if i > 0 && e.before(a.heap[(i-1)/4]) {
		a.up(i, e)
	} else {
		a.down(i, e)
	}
}

// up puts e where it belongs, at i or above.
func (a *agenda) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(a.heap[parent]) {
			break
		}
		a.place(i, a.heap[parent])
		i = parent
	}
	a.place(i, e)
}

// down puts e where it belongs, at i or below.
func (a *agenda) down(i int, e entry) {
	heap := a.heap
	for {
		child := 4*i + 1
		if child >= len(heap) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(heap)); c++ {
			if heap[c].before(heap[least]) {
				least = c
			}
		}
		if !heap[least].before(e) {
			break
		}
		a.place(i, heap[least])
		i = least
	}
	a.place(i, e)
}

func (a *agenda) place(i int, e entry) {
	a.heap[i] = e
	a.at[e.id()] = int32(i + 1)
}

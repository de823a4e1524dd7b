package main

import (
	"sirdbed/emu"
	"sirdbed/scenarios/sweep"
)

// An estimate says how long points take, by what others took: as a multiple of what the cost
// of a point says, for its protocol, the sizes of its messages and its load. What few points
// are known of is near to what the wider kind has.
type estimate struct {
	own, earlier took                    // of this sweep, and of ones before, maybe on another machine
	foreseen     map[emu.EngineName]rate // of this sweep's points: took, and what earlier ones say of them
	kinds        map[*sweep.Job]kind
}

// A took is what points took, by engine, protocol and sizes of messages, and by load. "" is of
// all protocols, or of all sizes. Engines say nothing of each other.
type took map[kind]map[float64]rate

// A rate is what points of a kind took, in seconds, and were expected to by cost.
type rate struct{ took, cost float64 }

func (r rate) plus(s rate, weight float64) rate {
	return rate{r.took + weight*s.took, r.cost + weight*s.cost}
}

// A kind is what points have in common that take about the same multiple of their cost.
type kind struct {
	engine          emu.EngineName
	protocol, sizes string
	load            float64
}

func newEstimate() estimate {
	return estimate{
		own: took{}, earlier: took{},
		foreseen: map[emu.EngineName]rate{}, kinds: map[*sweep.Job]kind{},
	}
}

// kindOf is the kind of a job.
func (e *estimate) kindOf(j *sweep.Job) kind {
	k, ok := e.kinds[j]
	if !ok {
		k.engine, k.protocol = j.Engine, j.Experiment.Protocol
		for i := range j.Experiment.Streams {
			s := &j.Experiment.Streams[i]
			k.sizes += s.Sizes + " "
			k.load += s.Load
		}
		e.kinds[j] = k
	}
	return k
}

// wider are a kind without its load, and the ones that are wider still, from the widest.
func (k kind) wider() [3]kind {
	return [3]kind{
		{engine: k.engine},
		{engine: k.engine, protocol: k.protocol},
		{engine: k.engine, protocol: k.protocol, sizes: k.sizes},
	}
}

// learn takes what a point of this sweep took, or of an earlier one.
func (e *estimate) learn(j *sweep.Job, seconds float64, own bool) {
	to := e.earlier
	if own {
		to = e.own
		if x := e.multiple(j, 1, false); x > 0 {
			e.foreseen[j.Engine] = e.foreseen[j.Engine].plus(rate{seconds, j.Cost * x}, 1)
		}
	}
	k := e.kindOf(j)
	for _, w := range k.wider() {
		if to[w] == nil {
			to[w] = map[float64]rate{}
		}
		to[w][k.load] = to[w][k.load].plus(rate{seconds, j.Cost}, 1)
	}
}

// loadApart is how far apart loads are that say half as much of each other.
const loadApart = 0.2

// add adds what a kind's points took to near, those at other loads with less weight, and what
// all of them cost to cost. What was taken is multiplied by pace.
func (t took) add(w kind, load, pace float64, near *rate, cost *float64) {
	for at, x := range t[w] {
		x.took *= pace
		apart := (at - load) / loadApart
		*near = near.plus(x, 1/(1+apart*apart))
		*cost += x.cost
	}
}

// multiple is of what a job's cost says, from the widest kind to the narrowest: each counts
// against the one before as all of its points do against one point like the job. What the
// earlier took is multiplied by pace. 0: nothing is known.
func (e *estimate) multiple(j *sweep.Job, pace float64, own bool) (x float64) {
	k := e.kindOf(j)
	for _, w := range k.wider() {
		var near rate
		known := 0.0
		e.earlier.add(w, k.load, pace, &near, &known)
		if own {
			e.own.add(w, k.load, 1, &near, &known)
		}
		switch {
		case known == 0:
		case x == 0:
			x = near.took / near.cost
		default:
			x = (known*near.took/near.cost + x*j.Cost) / (known + j.Cost)
		}
	}
	return x
}

// seconds is how long a job takes. known: by others, and not by its cost alone.
func (e *estimate) seconds(j *sweep.Job) (s float64, known bool) {
	pace := 1.0
	if f := e.foreseen[j.Engine]; f.cost > 0 { // this machine is another, or has other things to do
		pace = f.took / f.cost
	}
	if x := e.multiple(j, pace, true); x > 0 {
		return j.Cost * x, true
	}
	return j.Cost, false
}

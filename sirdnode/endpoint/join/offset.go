//go:build linux

package join

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"sirdbed/sirdnode/clock"
)

// An Offset is by how much a peer's CLOCK_MONOTONIC is ahead of this machine's, in ns, and
// by how much that may be wrong. The clocks need not start at one time, nor run at one rate.
type Offset struct {
	Ahead, Error int64
}

// An exchange is four times: when the run asked and when the answer had come, by its clock,
// and when the peer had the question and answered, by the peer's.
type exchange struct {
	asked, had, answered, back int64
}

// offset bounds the difference of both clocks: nothing arrives before it was sent. The
// error is half of the time that the exchange spent on its way.
func (e exchange) offset() Offset {
	least, most := e.answered-e.back, e.had-e.asked
	return Offset{Ahead: least + (most-least)/2, Error: (most - least + 1) / 2}
}

// How many exchanges there are, at most in how long.
const (
	exchanges    = 200
	exchangeTime = 2 * time.Second
)

// probeLen is the length of an answer.
const probeLen = 24

// Offset measures the difference of clocks: that of the fastest of many exchanges.
func (p *Peer) Offset() (best Offset, err error) {
	until := time.Now().Add(exchangeTime)
	for i := range exchanges {
		e, err := p.exchange()
		if err != nil {
			return best, fmt.Errorf("the clock at %v: %w", p, err)
		}
		if o := e.offset(); i == 0 || o.Error < best.Error {
			best = o
		}
		if time.Now().After(until) {
			break
		}
	}
	return best, nil
}

func (p *Peer) exchange() (e exchange, err error) {
	var b [8]byte
	e.asked = clock.Monotonic()
	binary.BigEndian.PutUint64(b[:], uint64(e.asked))
	if err := p.line.send(probe, b[:]); err != nil {
		return e, err
	}
	select {
	case e = <-p.answers:
		return e, nil
	case <-p.gone:
		return e, p.err
	case <-time.After(silentTime):
		return e, errors.New("no answer")
	}
}

// answered takes a peer's answer.
func answered(b []byte, back int64) (exchange, error) {
	if len(b) != probeLen {
		return exchange{}, errStrange
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(b[8*i:])) }
	e := exchange{asked: at(0), had: at(1), answered: at(2), back: back}
	if e.answered < e.had || e.back-e.asked < e.answered-e.had { // it took longer there than here
		return exchange{}, errStrange
	}
	return e, nil
}

// answer answers a run's question, which has just come.
func (l *line) answer(question []byte, had int64) error {
	if len(question) != 8 {
		return errStrange
	}
	var b [probeLen]byte
	copy(b[:], question)
	binary.BigEndian.PutUint64(b[8:], uint64(had))
	binary.BigEndian.PutUint64(b[16:], uint64(clock.Monotonic()))
	return l.send(probe, b[:])
}

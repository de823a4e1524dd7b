package main

import "sirdbed/capture/points"

// A mark is on the figures of a point that are not what they seem. The worst is the largest.
type mark int

const (
	noMark mark = iota
	markUnstable
	markUnbounded
	markInvalid
)

// markOf is a point's.
func markOf(p *points.Point) mark {
	switch {
	case p.IsInvalid():
		return markInvalid
	case p.Unbounded != "":
		return markUnbounded
	case p.NotCarried() != "":
		return markUnstable
	}
	return noMark
}

// String is what is behind a figure.
func (m mark) String() string { return [...]string{"", "~", "!", "?"}[m] }

// meaning is what a reader has to know of a mark.
func (m mark) meaning() string {
	return [...]string{"", "unstable, carries less than is offered", "ended early, a leaf's queue grew without bound",
		"the verdict is INVALID, the figure is wrong"}[m]
}

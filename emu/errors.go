package emu

import "errors"

// ErrNotSupported matches the error of everything that this machine's kernel, or
// this process's rights, cannot do.
var ErrNotSupported = errors.New("not supported here")

// ErrNoMarker matches the error of ports that have to mark packets and cannot:
// without sch_red it takes the machine's root.
var ErrNoMarker = errors.New("no ECN marker")

// ErrUnsuited matches the error of an engine that cannot run an experiment's
// protocol, whatever else may be there. Others of the same scenario it can.
var ErrUnsuited = errors.New("this engine cannot run the protocol")

// ErrInner matches the error of a process that sirdbed alone starts, and that somebody
// else has started. It has done nothing.
var ErrInner = errors.New("only sirdbed itself starts this: see sirdbed --help")

// Unsuited is an error that matches ErrUnsuited. cause, which may be nil, is what
// it unwraps to.
func Unsuited(reason string, cause error) error { return &unsuited{reason, cause} }

type unsuited struct {
	reason string
	cause  error
}

func (e *unsuited) Error() string        { return e.reason }
func (e *unsuited) Is(target error) bool { return target == ErrUnsuited }
func (e *unsuited) Unwrap() error        { return e.cause }

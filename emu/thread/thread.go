//go:build linux

// Package thread keeps operating-system threads for work that belongs to one: a
// child process with a death signal is killed when the thread that started it
// ends (PR_SET_PDEATHSIG, prctl(2)), and Go ends threads when it likes.
package thread

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// A Thread is one thread that carries out work until Close. Its methods are safe
// for concurrent use; work is done one by one.
type Thread struct {
	work chan func()
	once sync.Once
}

// New starts a thread.
func New() *Thread {
	t := &Thread{work: make(chan func())}
	go t.serve()
	return t
}

// serve does the work on a thread of its own, but not on the process's first: Go
// parks that one when its goroutine ends, and what it started would live on.
func (t *Thread) serve() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if syscall.Gettid() == syscall.Getpid() {
		elsewhere := make(chan struct{})
		go func() {
			runtime.LockOSThread() // not to the first thread, which is still locked here
			close(elsewhere)
			t.serve()
		}()
		<-elsewhere
		runtime.UnlockOSThread()
		return
	}
	for f := range t.work {
		f()
	}
}

// Do runs f on the thread and returns its error. The thread must not be closed.
func (t *Thread) Do(f func() error) error {
	done := make(chan error)
	t.work <- func() { done <- f() }
	return <-done
}

// Close ends the thread, and with it every process that it started with a death
// signal. Closing twice does nothing.
func (t *Thread) Close() { t.once.Do(func() { close(t.work) }) }

// forLife is never closed.
var forLife = sync.OnceValue(New)

// StartForLife starts a command from a thread that lives as long as this process.
// It is safe for concurrent use.
func StartForLife(cmd *exec.Cmd) error { return forLife().Do(cmd.Start) }

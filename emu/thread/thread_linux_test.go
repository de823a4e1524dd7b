package thread

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestWorkIsDoneOnOneThread(t *testing.T) {
	thread := New()
	defer thread.Close()
	ids := map[int]int{}
	failure := errors.New("a failure")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := thread.Do(func() error { ids[syscall.Gettid()]++; return failure }); err != failure {
				t.Errorf("got error %v, want %v", err, failure)
			}
		})
	}
	wg.Wait()
	if len(ids) != 1 {
		t.Errorf("the work was done on threads %v, want one", ids)
	}
}

// What a thread has started with a death signal lives until it is closed, however
// many other threads end.
func TestProcessesEndWithTheirThread(t *testing.T) {
	thread := New()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := thread.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 20 {
		other := New()
		other.Close()
	}
	select {
	case err := <-ended:
		t.Fatalf("it ended before its thread: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	thread.Close()
	thread.Close()
	select {
	case err := <-ended:
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) ||
			exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("got %v, want its death by signal", err)
		}
	case <-time.After(10 * time.Second):
		cmd.Process.Kill()
		t.Error("it is still there 10 s after its thread's end")
	}
}

func TestStartForLife(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	if err := StartForLife(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

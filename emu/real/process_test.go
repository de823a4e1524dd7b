//go:build linux

package real

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sirdbed/sirdnode/node"
)

// shell starts a shell script as the process of host h1-1.
func shell(t *testing.T, script string) *hostProcess {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p, err := newHostProcess([]string{"/bin/sh", "-c", script}, []string{"WHO=you"}, 0, "h1-1", log)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.start(func(start func() error) error { return start() }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(0) })
	return p
}

// A process has its log as descriptor 3 and its status is awaited in order; what
// is not awaited is passed over.
func TestHostProcessReports(t *testing.T) {
	p := shell(t, `echo log >&3; echo '{"state":"ready"}'; read line
		echo '{"state":"busy"}'; echo "{\"state\":\"finished\",\"error\":\"$line $WHO\"}"`)
	if _, err := p.await(t.Context(), node.StateReady); err != nil {
		t.Fatal(err)
	}
	if err := p.send("thank"); err != nil {
		t.Fatal(err)
	}
	s, err := p.await(t.Context(), node.StateFinished)
	if err != nil || s.Error != "thank you" {
		t.Errorf("got %+v (%v), want it finished, with %q", s, err, "thank you")
	}
}

// However a process is lost, the error has the host, and the process's own words
// where there are some.
func TestLostHostsAreExplained(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []string
	}{
		{"reports a failure", `echo '{"state":"failed","error":"no ring"}'`, []string{"host h1-1 failed: no ring"}},
		{"exits", `echo panic: at the disco >&2; exit 2`,
			[]string{"process of host h1-1 (pid ", "died: exit status 2", "standard error:\npanic: at the disco"}},
		{"exits silently", `exit 0`, []string{"died: ended", "nothing on its standard error"}},
		{"writes no status", `echo hello; exit 3`, []string{"died: exit status 3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := shell(t, c.script).await(t.Context(), node.StateReady)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want an error with %q", err, want)
				}
			}
		})
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shell(t, `read line`).await(ctx, node.StateReady); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A process ends when its standard input does; one that does not is killed.
func TestHostProcessStops(t *testing.T) {
	for _, c := range []struct {
		name, script string
		grace        time.Duration
		killed       bool
	}{
		{"by itself", `echo '{"state":"ready"}'; read line; exit 0`, time.Minute, false},
		{"killed", `echo '{"state":"ready"}'; exec sleep 600`, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := shell(t, c.script)
			if _, err := p.await(t.Context(), node.StateReady); err != nil {
				t.Fatal(err)
			}
			p.stop(c.grace)
			if killed := p.err != nil && strings.Contains(p.err.Error(), "killed"); killed != c.killed {
				t.Errorf("it ended with %v, want it killed: %v", p.err, c.killed)
			}
		})
	}
}

// A host may be done, busy again, and done; then it may still be lost.
func TestWatchedHost(t *testing.T) {
	p := shell(t, `echo '{"state":"done"}{"state":"busy"}{"state":"done"}{"state":"failed","error":"late"}'`)
	done, lost, ended := make(chan int, 1), make(chan lostHost, 1), make(chan struct{})
	defer close(ended)
	go p.watch(done, lost, ended)
	for i, want := range []int{1, -1, 1} {
		if got := <-done; got != want {
			t.Errorf("report %d is %d, want %d", i, got, want)
		}
	}
	if l := <-lost; l.host != p || !strings.Contains(l.why.Error(), "late") {
		t.Errorf("lost for %v, want late", l.why)
	}
}

// Of many hosts without an answer three are named; one that the run has lost
// already is not named again.
func TestStoppedHosts(t *testing.T) {
	r := &run{going: true}
	for range 5 {
		r.hosts = append(r.hosts, shell(t, `echo '{"state":"failed","error":"broken"}'`))
	}
	r.hosts[0].failed = errors.New("known")
	r.hosts = append(r.hosts, shell(t, `read line; echo "{\"state\":\"finished\",\"report\":{\"reached\":\"7ns\"}}"`))
	err := r.stopHosts()
	if err == nil || strings.Count(err.Error(), "broken") != 3 || !strings.HasSuffix(err.Error(), "and 1 more hosts") {
		t.Errorf("got %v, want 3 of 4 failures and how many more", err)
	}
	if rep := r.hosts[5].report; rep == nil || rep.Reached != 7 {
		t.Errorf("the last host's report is %+v, want one that reached 7 ns", rep)
	}
}

//go:build linux && !portable

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sirdbed/emu/effort"
)

// soakVariants is how many variants each run of the soak has: a process that does not
// give back something of each shows it.
const soakVariants = 12

// use is what the processes of a run that last from one variant to the next have of the
// machine: the most that was seen.
type use struct{ descriptors, threads, resident int }

// mostOf is the greater of each.
func (u use) mostOf(v use) use {
	return use{max(u.descriptors, v.descriptors), max(u.threads, v.threads), max(u.resident, v.resident)}
}

// used adds up what those processes have now.
func used(all []descendant) (sum use) {
	for _, d := range all {
		if d.kind != "front" && d.kind != "supervisor" && d.kind != "worker" {
			continue
		}
		proc := fmt.Sprintf("/proc/%d", d.pid)
		files, _ := os.ReadDir(proc + "/fd")
		tasks, _ := os.ReadDir(proc + "/task")
		statm, _ := os.ReadFile(proc + "/statm")
		if f := strings.Fields(string(statm)); len(f) > 2 {
			pages, _ := strconv.Atoi(f[1])
			shared, _ := strconv.Atoi(f[2]) // a guest's memory, or files
			sum.resident += max(0, pages-shared) * os.Getpagesize()
		}
		sum.descriptors += len(files)
		sum.threads += len(tasks)
	}
	return sum
}

// Runs of many variants, on the engines in turn, have no more descriptors, threads and
// memory for the last than for the first, and leave nothing. SIRDBED_SOAK is for how
// long: 1h; without it, once for each engine.
func TestSoak(t *testing.T) {
	b := build(t)
	long := effort.Duration(t, "SIRDBED_SOAK")
	engines := []string{"real", "model", "virtual"}
	if _, err := haveKernel(t); err != nil {
		engines = engines[:2]
	}
	adopt(t)
	text := strings.Replace(realScenario, "duration: 10ms", "duration: 100us", 1) + "variants:\n"
	for i := range soakVariants {
		text += fmt.Sprintf("  - {name: v%d}\n", i+1)
	}
	b.write("soak.yaml", text)
	before := b.traces()
	tmp := t.TempDir()
	began, rounds := time.Now(), 0
	for ; rounds < 1 || time.Since(began) < long; rounds++ {
		for _, engine := range engines {
			b.soak(engine, tmp, before)
			if t.Failed() {
				t.Fatalf("in round %d, on %s", rounds+1, engine)
			}
		}
	}
	t.Logf("%d rounds of %v, %d variants each, in %v", rounds, engines, soakVariants,
		time.Since(began).Round(time.Second))
}

// soak makes a run and looks at it from variant to variant.
func (b *program) soak(engine, tmp string, before traces) {
	b.t.Helper()
	// One variant after another: what two side by side have depends on how they fall together.
	run := b.command("run", "soak.yaml", "--engine", engine, "--out", "soak", "--jobs", "1")
	if engine == "model" { // it would be ahead of who looks, who would take the analysis for a variant
		run.Args = append(run.Args, "--set", "duration=200ms")
	}
	run.Env = append(run.Env, "TMPDIR="+tmp)
	stderr, err := run.StderrPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		b.t.Fatal(err)
	}
	watch := watchUse()
	during := traces{namespaces: map[string]bool{}}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "[") && strings.HasSuffix(lines.Text(), " nominal") {
			watch.next()
		}
		if strings.HasPrefix(lines.Text(), fmt.Sprintf("[%d/", soakVariants)) {
			during = b.traces()
		}
	}
	got := code(run.Wait())
	uses := watch.end()
	if got != exitFine && got != exitInvalid && got != exitUnmet || len(uses) != soakVariants {
		b.t.Fatalf("%s: exit code %d, %d variants\n%s", engine, got, len(uses), said.String())
	}
	b.flat(engine, uses)
	b.vanished(before, during)
	if left := descendants(); len(left) > 0 {
		b.t.Errorf("%s left processes %v", engine, left)
	}
	if left := namesIn(b.t, tmp); left != "" {
		b.t.Errorf("%s left %s in TMPDIR", engine, left)
	}
	if err := os.RemoveAll(filepath.Join(b.dir, "soak")); err != nil {
		b.t.Error(err)
	}
}

// A useWatch looks every 5 ms at what this process's descendants have, and keeps the most
// of each variant.
type useWatch struct {
	mu   sync.Mutex
	uses []use // by variant
	quit chan struct{}
	done sync.WaitGroup
}

func watchUse() *useWatch {
	w := &useWatch{quit: make(chan struct{})}
	w.done.Go(func() {
		for {
			select {
			case <-w.quit:
				return
			case <-time.After(5 * time.Millisecond):
			}
			now := used(descendants())
			w.mu.Lock()
			if n := len(w.uses); n > 0 {
				w.uses[n-1] = w.uses[n-1].mostOf(now)
			}
			w.mu.Unlock()
		}
	})
	return w
}

// next begins another variant.
func (w *useWatch) next() {
	now := used(descendants())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uses = append(w.uses, now)
}

// end ends the watch.
func (w *useWatch) end() []use {
	close(w.quit)
	w.done.Wait()
	return w.uses
}

// flat fails if the last third of a run's variants had more than the first. A single
// one may have had more: a garbage collector's thread, or its heap.
func (b *program) flat(engine string, uses []use) {
	b.t.Helper()
	// The very first has things to warm, and after the last results are analyzed.
	third := len(uses) / 3
	first, last := uses[1:1+third], uses[len(uses)-1-third:len(uses)-1]
	for _, c := range []struct {
		what  string
		of    func(use) int
		slack int // less than one of each variant between the thirds adds up to
	}{
		{"descriptors", func(u use) int { return u.descriptors }, third},
		{"threads", func(u use) int { return u.threads }, third},
		{"bytes of memory", func(u use) int { return u.resident }, 16 << 20},
	} {
		least := func(list []use) (m int) {
			for _, u := range list {
				if n := c.of(u); n > 0 && (m == 0 || n < m) { // 0: over before anybody looked
					m = n
				}
			}
			return m
		}
		if least(first) == 0 || least(last) > least(first)+c.slack {
			var all []int
			for _, u := range uses {
				all = append(all, c.of(u))
			}
			b.t.Errorf("%s: %s from variant to variant: %v", engine, c.what, all)
		}
	}
	b.t.Logf("%s: from %+v to %+v", engine, first[0], last[third-1])
}

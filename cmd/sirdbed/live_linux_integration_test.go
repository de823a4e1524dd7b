//go:build linux && !portable

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/live"
	"sirdbed/capture/results"
)

// A said is what a process has written so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

var pageAddress = regexp.MustCompile(`live view: (http://127\.0\.0\.1:\d+/)([0-9a-f]{32}/)`)

// longest is how long a test waits for what takes less than a second.
const longest = 30 * time.Second

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(longest); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, longest)
		}
	}
}

// lookAt starts a run with a live view and returns its address when the picture has
// something of the run.
func (b *program) lookAt(args ...string) (run *exec.Cmd, stderr *said, server, token string) {
	b.t.Helper()
	run, stderr = b.command(append([]string{"run", "real.yaml", "--live"}, args...)...), &said{}
	run.Stderr = stderr
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := run.Start(); err != nil {
		b.t.Fatal(err)
	}
	eventually(b.t, "the address", func() bool { return pageAddress.MatchString(stderr.String()) })
	found := pageAddress.FindStringSubmatch(stderr.String())
	server, token = found[1], found[2]
	eventually(b.t, "a column of the picture", func() bool {
		p := &live.Picture{}
		status, text := get(b.t, server+token+"picture?variant=-1")
		if err := json.Unmarshal(text, p); status != http.StatusOK || err != nil {
			b.t.Fatalf("status %d, %v: %s", status, err, text)
		}
		return len(p.Columns) > 2 && p.Seen[0].Done > 0
	})
	return run, stderr, server, token
}

func get(t *testing.T, url string) (status int, text []byte) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text
}

// While a run on the real engine goes on its page is served outside its namespaces, to
// who has the token. However the run ends, the port is closed then.
func TestLiveViewOfARealRun(t *testing.T) {
	b := build(t)
	for _, end := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{{"interrupt", syscall.SIGINT, exitStopped}, {"kill", syscall.SIGKILL, -1}} {
		t.Run(end.name, func(t *testing.T) {
			b.t = t
			before := b.traces()
			run, stderr, server, token := b.lookAt("--set", "duration=400ms", "--out", end.name)
			if status, _ := get(t, server+token); status != http.StatusOK {
				t.Errorf("the page: status %d", status)
			}
			if status, _ := get(t, server); status != http.StatusForbidden {
				t.Errorf("without the token: status %d", status)
			}
			if err := run.Process.Signal(end.signal); err != nil {
				t.Fatal(err)
			}
			if got := code(run.Wait()); got != end.code {
				t.Errorf("exit code %d, want %d\n%s", got, end.code, stderr)
			}
			eventually(t, "the port is closed", func() bool {
				answer, err := http.Get(server + token)
				if err == nil {
					answer.Body.Close()
				}
				return err != nil
			})
			b.vanished(before, traces{})
		})
	}
}

// A viewer that is killed ends no run, and the verdict says that its cost is not known.
func TestKilledViewer(t *testing.T) {
	b := build(t)
	run, stderr, _, _ := b.lookAt("--set", "duration=20ms", "--out", "r")
	killed := false
	for _, p := range b.processes() {
		if strings.HasSuffix(p.command, " "+viewerCommand) {
			killed = syscall.Kill(p.pid, syscall.SIGKILL) == nil
		}
	}
	if err := run.Wait(); code(err) != exitFine && code(err) != exitInvalid || !killed {
		t.Fatalf("a viewer was killed: %v; then %v\n%s", killed, err, stderr)
	}
	for _, c := range b.variant("r").Verdict.Checks {
		if c.Name == "live view" && c.Level == results.Degraded {
			b.gone()
			return
		}
	}
	t.Errorf("got %+v, want the check live view DEGRADED", b.variant("r").Verdict.Checks)
}

// hide and show are what a terminal is told at a frame's beginning and end.
const hide, show = "\x1b[?25l", "\x1b[?25h"

// In a terminal a run is drawn, and the terminal is left as it was however the run ends.
func TestWatchInATerminal(t *testing.T) {
	b := build(t)
	heedHangUps(t)
	for name, end := range map[string]struct {
		signal syscall.Signal // 0: by itself
		want   string         // behind the frames
	}{
		"by itself": {0, "done in"}, "interrupt": {syscall.SIGINT, "interrupted: "}, "kill": {syscall.SIGKILL, ""},
		"hang up": {syscall.SIGHUP, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			args := []string{"run", "real.yaml", "--watch", "--out", filepath.Join(t.TempDir(), "r")}
			if end.signal != 0 {
				args = append(args, "--set", "duration=1s") // 200 s without the signal
			}
			run := b.command(args...)
			screen := onTerminal(t, run)
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "frames", func() bool { return strings.Count(screen.String(), show) > 2 })
			if end.signal != 0 {
				if err := run.Process.Signal(end.signal); err != nil {
					t.Fatal(err)
				}
			}
			_ = run.Wait() // how it ends is others' test
			b.gone()
			eventually(t, "what it says in the end", func() bool {
				text := screen.String()
				return strings.Contains(text[strings.LastIndex(text, show):], end.want)
			})
			text := screen.String()
			if strings.LastIndex(text, hide) > strings.LastIndex(text, show) ||
				strings.Count(text, hide) != strings.Count(text, show) {
				t.Errorf("the cursor stays hidden:\n%q", text[strings.LastIndex(text, hide):])
			}
			for _, part := range []string{"real on real  [1/1] sird", "Gbps/host", "messages  "} {
				if !strings.Contains(text, part) {
					t.Errorf("no frame has %q:\n%q", part, text)
				}
			}
		})
	}
}

// onTerminal makes a terminal of 100 columns a command's standard output and error.
func onTerminal(t *testing.T, cmd *exec.Cmd) *said {
	t.Helper()
	master, slave := openTerminal(t)
	cmd.Stdout, cmd.Stderr = slave, slave
	screen := &said{}
	go func() { _, _ = io.Copy(screen, master) }() // until the test's end
	return screen
}

// Under sudo the page is served as the user who called it, though the run is root's.
func TestLiveViewUnderSudo(t *testing.T) {
	build(t) // skips where the real engine cannot run
	u := callBySudo(t)
	cmd := exec.Command(u.path, "run", "quickstart", "--live", "--out", "r", "--set", "duration=60s")
	cmd.Dir, cmd.Env = u.dir, append(u.env, runtimeDirVar+"="+filepath.Join(u.dir, "runtime"))
	stderr := &said{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	}()
	eventually(t, "the address", func() bool { return pageAddress.MatchString(stderr.String()) })
	address := pageAddress.FindStringSubmatch(stderr.String())
	eventually(t, "a picture", func() bool {
		_, text := get(t, address[1]+address[2]+"picture?variant=-1")
		return bytes.Contains(text, []byte(`"static"`))
	})
	b := &program{t: t, dir: u.dir}
	for _, p := range b.processes() {
		if !strings.HasSuffix(p.command, " "+viewerCommand) {
			continue
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("Uid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\n", u.uid)
		if !bytes.Contains(status, []byte(want)) || !bytes.Contains(status, []byte("CapEff:\t0000000000000000\n")) {
			t.Errorf("the viewer is not %s's:\n%s", "nobody", status)
		}
		mine, _ := os.Readlink("/proc/self/ns/net")
		if its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.pid)); err != nil || its != mine {
			t.Errorf("the viewer is in network namespace %s, want %s (%v)", its, mine, err)
		}
		return
	}
	t.Error("there is no viewer")
}

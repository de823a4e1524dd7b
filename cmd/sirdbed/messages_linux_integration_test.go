//go:build linux && !portable

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// copyScenario copies files between two programs over SIRD, packets of which are lost.
const copyScenario = `
name: copy
topology: {leaves: 1, hosts_per_leaf: 2, host_rate: 1Gbps, host_delay: 2us, mtu: 9000B}
protocol: sird
faults: {drop: 0.02}
duration: 120s
apps:
  - {name: receiver, host: h1-2, run: [./copier, receive, got, "%d"], ready: output ready, expect: exit 0}
  - {name: sender, host: h1-1, run: [./copier, send, h1-2, files], after: [receiver]}
`

// addProgram builds one of the example programs beside the test's files.
func (b *program) addProgram(name string) {
	b.t.Helper()
	out, err := exec.Command("go", "build", "-o", b.dir, "sirdbed/cmd/"+name).CombinedOutput()
	if err != nil {
		b.t.Fatalf("go build %s: %v\n%s", name, err, out)
	}
}

// writeFiles makes files of given sizes first, then many small ones and some larger, up to
// a number.
func (b *program) writeFiles(count int, sizes ...int) {
	b.t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	if err := os.Mkdir(filepath.Join(b.dir, "files"), 0o777); err != nil {
		b.t.Fatal(err)
	}
	for i := range count {
		size := int(math.Pow(10, 4.6*r.Float64()))
		if i < len(sizes) {
			size = sizes[i]
		}
		text := make([]byte, size)
		rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)}).Read(text)
		b.write(fmt.Sprintf("files/%04d", i), string(text))
	}
}

// wantCopies compares what has arrived with what was sent, byte by byte.
func (b *program) wantCopies(count int) {
	b.t.Helper()
	got, err := os.ReadDir(filepath.Join(b.dir, "got"))
	if err != nil || len(got) != count {
		b.t.Fatalf("%d files arrived (%v), want %d", len(got), err, count)
	}
	for _, f := range got {
		want, err1 := os.ReadFile(filepath.Join(b.dir, "files", f.Name()))
		have, err2 := os.ReadFile(filepath.Join(b.dir, "got", f.Name()))
		if err1 != nil || err2 != nil || !bytes.Equal(want, have) {
			b.t.Errorf("%s arrived with %d bytes, not the %d that were sent (%v, %v)", f.Name(), len(have), len(want),
				err1, err2)
		}
	}
}

// A thousand files of 1 B to 10 MB arrive byte by byte as they were, although one packet in
// fifty is lost.
func TestFilesArriveIntactUnderLoss(t *testing.T) {
	const megabyte = 1 << 20
	sizes := []int{1, 2, 15, 16, 17, 1459, 1460, 1461, 8935, 65535, 65536, 65537, megabyte - 1, megabyte, megabyte + 1}
	for _, c := range []struct {
		engine string
		count  int
		large  int // of 10 MB
	}{{"real", 1000, 5}, {"virtual", 60, 1}} {
		t.Run(c.engine, func(t *testing.T) {
			if _, err := haveKernel(t); c.engine == "virtual" && err != nil {
				t.Skip(err)
			}
			b := build(t)
			b.addProgram("copier")
			own := sizes
			for range c.large {
				own = append(own, 10_000_000)
			}
			b.writeFiles(c.count, own...)
			b.write("copy.yaml", fmt.Sprintf(copyScenario, c.count))
			out, err := b.command("run", "copy.yaml", "--engine", c.engine, "--out", "out").CombinedOutput()
			if n := code(err); n != 0 && n != exitInvalid { // a shared machine may be too slow for figures
				printed, _ := filepath.Glob(filepath.Join(b.dir, "out/variants/*/apps/*.out"))
				for _, name := range printed {
					text, _ := os.ReadFile(name)
					t.Logf("%s:\n%s", name, text)
				}
				t.Fatalf("run: exit %d\n%s", n, out)
			}
			if !bytes.Contains(out, []byte(" programs ")) {
				t.Errorf("no stream is called programs in\n%s", out)
			}
			b.wantCopies(c.count)
		})
	}
}

// killPrograms kills what runs in a host of the fabric that is up.
func (b *program) killPrograms(host string) {
	b.t.Helper()
	killed := 0
	for _, f := range b.ps() {
		for _, p := range f.Programs {
			if p.Node == host {
				killed++
				if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
					b.t.Errorf("%v: %v", p, err)
				}
			}
		}
	}
	if killed == 0 {
		b.t.Fatalf("no program runs in %s", host)
	}
}

// Programs of a fabric that is up send, are killed, and leave nothing behind for the next.
func TestMessagesInAFabricThatIsUp(t *testing.T) {
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("nsenter is not installed")
	}
	b := build(t)
	b.addProgram("rpcping")
	b.must("up", "real.yaml", "--name", "m", "--dilation", "1")
	t.Cleanup(func() { b.command("down", "m").Run() })
	ping := func(from string, args ...string) (string, error) {
		out, err := b.command(append([]string{"exec", "--run", "m", from, "./rpcping"}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := ping("h1-1", "h1-2"); err == nil || !strings.Contains(out, "no program listens there") {
		t.Errorf("without a server: %v, %s", err, out)
	}
	serve := func() *exec.Cmd {
		t.Helper()
		server := b.command("exec", "--run", "m", "h1-2", "./rpcping", "serve")
		stdout, err := server.StdoutPipe()
		if err == nil {
			err = server.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stdout.Read(make([]byte, 6)); err != nil {
			t.Fatalf("the server is not ready: %v", err)
		}
		return server
	}
	server := serve()
	if out, err := ping("h1-1", "-n", "3", "-interval", "0", "-size", "1000000", "h1-2"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := ping("h1-2", "serve"); err == nil || !strings.Contains(out, "another program") {
		t.Errorf("a second server: %v, %s", err, out)
	}

	// The server is killed while a client asks without end, and another client too.
	endless := b.command("exec", "--run", "m", "h1-1", "./rpcping", "-n", "1000000", "-interval", "0", "h1-2")
	var printed bytes.Buffer
	endless.Stdout, endless.Stderr = &printed, &printed
	doomed := b.command("exec", "--run", "m", "h1-3", "./rpcping", "-n", "1000000", "-interval", "0", "-size", "100000",
		"h1-2")
	for _, cmd := range []*exec.Cmd{endless, doomed} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond) // whatever they do by then
	b.killPrograms("h1-3")
	doomed.Wait()
	b.killPrograms("h1-2")
	server.Wait()
	if err := endless.Wait(); err == nil || !strings.Contains(printed.String(), "no program listens there") {
		t.Errorf("a client whose server was killed ended with %v, having printed %.2000s", err, printed.String())
	}
	serve() // the service is free
	if out, err := ping("h1-3", "-n", "3", "h1-2"); err != nil {
		t.Errorf("after kills: %v: %s", err, out)
	}
	b.must("down", "m")
}

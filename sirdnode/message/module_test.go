package message_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sirdbed/sirdnode/message/broker"
	"sirdbed/sirdnode/message/brokertest"
)

// A program of another module takes this one along by a replace directive, without
// anything else of it, and works.
func TestProgramOfAnotherModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/hello\n\ngo 1.26\n\nrequire sirdbed v0.0.0\n\nreplace sirdbed => " + root + "\n",
		"main.go": `package main

import (
	"context"
	"fmt"
	"os"

	"sirdbed/sirdnode/message"
)

func main() {
	conn, err := message.Dial(context.Background(), "")
	if err == nil {
		var reply []byte
		reply, err = conn.Call(context.Background(), "h1-2", 7, []byte("hello"))
		fmt.Printf("%s", reply)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "hello", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build in a module of its own: %v\n%s", err, out)
	}
	at := brokertest.New(t, 2, broker.DefaultLimits).Listen(t)
	l := listen(t, at[1], 7)
	go func() {
		if m, err := l.Receive(t.Context()); err == nil {
			m.Reply(t.Context(), append(m.Data, " from "+l.Host()...))
		}
	}()
	hello := exec.Command(filepath.Join(dir, "hello"))
	hello.Env = append(os.Environ(), "SIRDBED_SOCKET="+at[0])
	out, err := hello.CombinedOutput()
	if err != nil || string(out) != "hello from h1-2" {
		t.Errorf("the program printed %q, %v; want hello from h1-2", out, err)
	}
}

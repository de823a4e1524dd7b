package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sirdbed/emu"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if run, ok := startedFor(os.Args[1:]); ok {
		os.Exit(run()) // this test's binary, started again as a host process
	}
	if role := os.Getenv(helperVar); role != "" && len(os.Args) == 1 {
		if err := nodeHelper(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testscript.Main(tidy{m}, map[string]func(){"sirdbed": func() { os.Exit(Main()) }})
}

// tidy does what is to be done when all tests are over.
type tidy struct{ m *testing.M }

// whenOver removes what tests share.
var whenOver []func()

func (t tidy) Run() int {
	defer func() {
		for _, do := range whenOver {
			do()
		}
	}()
	return t.m.Run()
}

// The scripts in testdata are the command line's tests. They run on the model. The
// condition portable holds for the program as it is where there is no Linux; go
// test -tags portable makes it so.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Condition: func(name string) (bool, error) {
			if name == "portable" {
				return elsewhere(emu.Real) != "", nil
			}
			return false, fmt.Errorf("no condition is called %s", name)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("SIRDBED_RUNTIME_DIR", e.WorkDir+"/runtime")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": jsonValue, "waitfor": waitFor, "rewrite": rewritePoints,
		},
	})
}

// exits CODE COMMAND ARG... runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s exits with %s, not %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// waitfor FILE waits until a file is there and has something in it.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	for range 1000 {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s does not come", args[0])
}

// json FILE KEY VALUE checks a value of a JSON file, "stdout" for the last
// command's output. KEY leads through objects and lists: variants.0.variant.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE KEY VALUE")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
	for key := range strings.SplitSeq(args[1], ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(v) {
				ts.Fatalf("%s has %d items", args[1], len(v))
			}
			value = v[i]
		}
	}
	got, isText := value.(string)
	if !isText {
		text, err := json.Marshal(value)
		ts.Check(err)
		got = string(text)
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %s", args[1], got)
	}
}

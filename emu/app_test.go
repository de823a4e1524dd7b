package emu

import (
	"strings"
	"testing"
)

func TestReadiness(t *testing.T) {
	for _, c := range []struct {
		ready string
		kind  ReadyKind
		wrong string // part of the error, "" for none
	}{
		{"", ReadyStarted, ""},
		{"started", ReadyStarted, ""},
		{"exit", ReadyExit, ""},
		{"port 5201", ReadyPort, ""},
		{"file /tmp/x y", ReadyFile, ""},
		{"output ^listening on .*", ReadyOutput, ""},
		{"port 0", 0, "want port 1 to port 65535"},
		{"port 65536", 0, "want port 1 to port 65535"},
		{"port", 0, "want port 1 to port 65535"},
		{"file", 0, "want port N, file PATH, output REGEXP, exit or started"},
		{"output (", 0, "missing closing )"},
		{"soon", 0, "want port N"},
	} {
		t.Run(c.ready, func(t *testing.T) {
			r, err := (&App{Ready: c.ready}).Readiness()
			if c.wrong == "" && (err != nil || r.Kind != c.kind) {
				t.Errorf("got %+v, %v; want kind %d", r, err, c.kind)
			}
			if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("got %v, want %q", err, c.wrong)
			}
		})
	}
	if r, _ := (&App{Ready: "port 5201"}).Readiness(); r.Port != 5201 {
		t.Errorf("got port %d, want 5201", r.Port)
	}
	if r, _ := (&App{Ready: "file /tmp/x y"}).Readiness(); r.Path != "/tmp/x y" {
		t.Errorf("got the file %q, want all behind the word", r.Path)
	}
}

func TestExpectedExit(t *testing.T) {
	for expect, want := range map[string]struct {
		code int
		each bool
		ok   bool
	}{
		"":         {0, false, true},
		"exit 0":   {0, false, true},
		"exit 3":   {3, false, true},
		"any":      {0, true, true},
		"exit 256": {}, "exit": {}, "3": {}, "exit -1": {},
	} {
		code, each, err := (&App{Expect: expect}).ExpectedExit()
		if code != want.code || each != want.each || (err == nil) != want.ok {
			t.Errorf("%q: got %d, %v, %v; want %+v", expect, code, each, err, want)
		}
	}
}

// What serves is a daemon, unless it says otherwise or states how it ends.
func TestIsDaemon(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		app  App
		want bool
	}{
		{App{}, false},
		{App{Ready: "exit"}, false},
		{App{Ready: "port 80"}, true},
		{App{Ready: "file /x"}, true},
		{App{Ready: "output up"}, true},
		{App{Ready: "port 80", Expect: "exit 0"}, false},
		{App{Ready: "port 80", Daemon: &no}, false},
		{App{Daemon: &yes}, true},
	} {
		if got := c.app.IsDaemon(); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.app, got, c.want)
		}
	}
}

func TestDefaultNameOfAnApp(t *testing.T) {
	a := App{Host: "h1-3", Run: []string{"/usr/bin/Iperf3", "-s"}}
	if got := a.DefaultName(); got != "iperf3-h1-3" {
		t.Errorf("got %q, want iperf3-h1-3", got)
	}
}

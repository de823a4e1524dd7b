package live

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/emu/tree"
)

// text is a picture as the page gets it.
func text(t *testing.T, p *Picture) []byte {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lookedAt is a run of one variant, which has logged something of everything.
func lookedAt(t *testing.T) *Run {
	t.Helper()
	dir, err := tree.Open(fakerun.Busy(t).Write(t))
	if err != nil {
		t.Fatal(err)
	}
	run := NewRun(About{Scenario: "test", Engine: "real", Dir: "results/test", Variants: []string{"v", "w"}})
	if err := run.Begin(0, dir, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	run.Look()
	return run
}

func listen(t *testing.T, run *Run) *Server {
	t.Helper()
	s, err := Listen(run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(0) })
	return s
}

// Only a GET with the run's token, to loopback by name and port, gets anything.
func TestWhoIsServed(t *testing.T) {
	s := listen(t, lookedAt(t))
	for _, c := range []struct {
		name, method, path, host string
		want                     int
	}{
		{"the page", "GET", "/TOKEN/", "127.0.0.1:PORT", 200},
		{"localhost", "GET", "/TOKEN/", "localhost:PORT", 200},
		{"the picture", "GET", "/TOKEN/picture?variant=-1", "127.0.0.1:PORT", 200},
		{"no token", "GET", "/", "127.0.0.1:PORT", 403},
		{"no token, picture", "GET", "/picture", "127.0.0.1:PORT", 403},
		{"another token", "GET", "/" + strings.Repeat("0", 32) + "/", "127.0.0.1:PORT", 403},
		{"part of the token", "GET", "/PART/", "127.0.0.1:PORT", 403},
		{"token elsewhere", "GET", "/?token=TOKEN", "127.0.0.1:PORT", 403},
		{"token behind a path", "GET", "/x/../TOKEN/", "127.0.0.1:PORT", 403},
		{"a name that leads here", "GET", "/TOKEN/", "evil.example:PORT", 403},
		{"no port", "GET", "/TOKEN/", "127.0.0.1", 403},
		{"another port", "GET", "/TOKEN/", "127.0.0.1:1", 403},
		{"no token, wrong method", "POST", "/", "127.0.0.1:PORT", 403},
		{"POST", "POST", "/TOKEN/", "127.0.0.1:PORT", 405},
		{"HEAD", "HEAD", "/TOKEN/", "127.0.0.1:PORT", 405},
		{"OPTIONS", "OPTIONS", "/TOKEN/picture", "127.0.0.1:PORT", 405},
		{"another file", "GET", "/TOKEN/../../etc/passwd", "127.0.0.1:PORT", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			fill := strings.NewReplacer("TOKEN", s.token, "PORT", s.port, "PART", s.token[:31])
			r := httptest.NewRequest(c.method, "http://x"+fill.Replace(c.path), nil)
			r.Host = fill.Replace(c.host)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("got %d, want %d", w.Code, c.want)
			}
			if refused := w.Code == 403; refused && strings.Contains(w.Body.String(), s.token) {
				t.Error("the refusal has the token in it")
			}
			if w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Error("other sites may read it")
			}
		})
	}
}

// The page names no other file, and a browser may neither run nor ask for anything else.
func TestPageStandsAlone(t *testing.T) {
	s := listen(t, lookedAt(t))
	answer, err := http.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	page, rules := string(body), answer.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(rules, part) {
			t.Errorf("the rules %q lack %q", rules, part)
		}
	}
	if strings.Contains(rules, "unsafe") {
		t.Errorf("the rules are %q", rules)
	}
	for _, of := range []string{"script", "style"} {
		_, rest, _ := strings.Cut(page, "<"+of+">")
		inside, _, ok := strings.Cut(rest, "</"+of+">")
		if !ok || len(inside) < 100 || !strings.Contains(rules, of+"-src "+hashOf(inside)) {
			t.Errorf("the %s of the page, %d bytes, is not the one that may be run", of, len(inside))
		}
	}
	for _, other := range []string{"src=", "href=\"http", "@import", "url(", "innerHTML", "{{"} {
		if strings.Contains(page, other) {
			t.Errorf("the page has %q in it", other)
		}
	}
	if answer.Header.Get("Referrer-Policy") != "no-referrer" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("got headers %v", answer.Header)
	}
}

func TestTokensDiffer(t *testing.T) {
	run := lookedAt(t)
	a, b := listen(t, run), listen(t, run)
	if a.token == b.token || len(a.token) != 32 {
		t.Errorf("got tokens %q and %q", a.token, b.token)
	}
}

// A page that is open gets the picture of the ended run, and then the port is closed.
func TestLastPicture(t *testing.T) {
	run := lookedAt(t)
	s := listen(t, run)
	ask := func() (p Picture) {
		answer, err := http.Get(s.URL() + "picture?variant=-1")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(&p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := ask(); p.Ended || p.Static == nil || len(p.Columns) == 0 {
		t.Fatalf("got %d columns of a run that has ended: %v", len(p.Columns), p.Ended)
	}
	if _, err := run.End(false); err != nil {
		t.Fatal(err)
	}
	run.Finish()
	closed := make(chan error)
	go func() { closed <- s.Close(time.Minute) }()
	if p := ask(); !p.Ended || p.Seen[0].State != Done || p.Seen[1] != nil {
		t.Errorf("got a last picture that has ended: %v, of variants %+v", p.Ended, p.Seen)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if answer, err := http.Get(s.URL()); err == nil {
		answer.Body.Close()
		t.Error("the port is still open")
	}
}

// Nobody is waited for who has not asked.
func TestCloseWithoutPages(t *testing.T) {
	s := listen(t, lookedAt(t))
	done := make(chan error)
	go func() { done <- s.Close(time.Hour) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it still waits after a minute")
	}
}

package live

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Server serves the page of a run on loopback to whoever has its address, which has a
// random token in it: other users of the machine do not get it. A page of another site
// does not get it either, under whatever name it finds its way to loopback.
type Server struct {
	run   *Run
	token string
	port  string
	page  []byte
	rules string // Content-Security-Policy
	http  *http.Server
	ln    net.Listener

	mu    sync.Mutex
	asked time.Time // when a page last asked for the picture
	final bool      // that picture was of the ended run
}

// Listen begins to serve a run on a free port of loopback, until Close.
func Listen(run *Run) (*Server, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("live view: %w", err)
	}
	var token [16]byte
	if _, err := rand.Read(token[:]); err != nil {
		ln.Close()
		return nil, fmt.Errorf("live view: %w", err)
	}
	s := &Server{run: run, token: hex.EncodeToString(token[:]), ln: ln}
	s.port = strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	s.page, s.rules = assemble()
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	go func() { _ = s.http.Serve(ln) }() // it ends with Close
	return s, nil
}

// URL is the page's address.
func (s *Server) URL() string { return "http://127.0.0.1:" + s.port + "/" + s.token + "/" }

// Close stops serving. Pages that are open have time until then to ask for the run's last
// picture, if one has asked for any lately.
func (s *Server) Close(patience time.Duration) error {
	const poll, answering = 20 * time.Millisecond, 300 * time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end) && s.waiting(patience); {
		time.Sleep(poll)
	}
	// What is being answered is answered in full.
	ctx, cancel := context.WithTimeout(context.Background(), min(patience, answering))
	defer cancel()
	if err := s.http.Shutdown(ctx); err == nil {
		return nil
	}
	return s.http.Close()
}

// waiting reports whether a page that asked within a span has not got the last picture.
func (s *Server) waiting(span time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.asked) < 2*span && !s.final
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", s.rules)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	name, ok := s.allowed(r)
	switch {
	case !ok:
		http.Error(w, "403: this address lacks the run's token, or is not loopback's", http.StatusForbidden)
	case r.Method != http.MethodGet:
		h.Set("Allow", http.MethodGet)
		http.Error(w, "405: GET only", http.StatusMethodNotAllowed)
	case name == "":
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(s.page)
	case name == "picture":
		s.picture(w, r)
	default:
		http.Error(w, "404: not found", http.StatusNotFound)
	}
}

// allowed returns what a request asks for, if it may: it has the token, and is to loopback
// by name, which no page of another site's is, whatever its name resolves to.
func (s *Server) allowed(r *http.Request) (name string, ok bool) {
	host := r.Host == "127.0.0.1:"+s.port || r.Host == "localhost:"+s.port
	token, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 || !host {
		return "", false
	}
	return name, true
}

func (s *Server) picture(w http.ResponseWriter, r *http.Request) {
	number := func(name string, otherwise int) int {
		n, err := strconv.Atoi(r.URL.Query().Get(name))
		if err != nil {
			return otherwise
		}
		return n
	}
	s.mu.Lock()
	s.asked = time.Now()
	s.mu.Unlock()
	p := s.run.Picture(Query{Variant: number("variant", -1), Rev: number("rev", 0), Gauge: r.URL.Query().Get("gauge")})
	text, err := json.Marshal(p)
	if err != nil {
		http.Error(w, "500: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = s.final || p.Ended && err == nil
}

// hashOf is how a Content-Security-Policy names a script or style.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

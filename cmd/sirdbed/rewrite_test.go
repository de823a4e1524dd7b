package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// rewrite FROM TO PATTERN REPLACEMENT copies the points of a directory into another, which may be the same, with what
// matches replaced, and their checksums made anew.
func rewritePoints(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: rewrite FROM TO PATTERN REPLACEMENT")
	}
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.json"))
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs(args[1]), 0o777))
	sum, pattern := regexp.MustCompile(`^\{"sum":"[0-9a-f]*",`), regexp.MustCompile(args[2])
	for _, file := range files {
		text, err := os.ReadFile(file)
		ts.Check(err)
		rest := bytes.TrimSpace(sum.ReplaceAll(text, nil))
		rest = pattern.ReplaceAll(rest, []byte(args[3]))
		h := sha256.Sum256(rest)
		text = fmt.Appendf(nil, "{\"sum\":\"%x\",%s\n", h[:8], rest)
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[1]), filepath.Base(file)), text, 0o666))
	}
}

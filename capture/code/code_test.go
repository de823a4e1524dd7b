package code

import (
	"crypto/sha256"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/emu"
)

// What counts is what the go command says the engine's package is made of, less other
// protocols.
func TestPackagesAreThoseOfTheGoCommand(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../emu/model", "../results").Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := all.Find("homa")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Packages(emu.Model, &p)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for pkg := range strings.Lines(string(out)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(pkg), module)
		protocol := strings.HasPrefix(own, "baselines/") || own == "sirdnode/sird"
		if ok && (!protocol || own == "baselines/homa") {
			want = append(want, own)
		}
	}
	slices.Sort(want)
	// What other protocols have in common is theirs.
	want = slices.DeleteFunc(want, func(pkg string) bool { return !slices.Contains(got, pkg) && onlyOfProtocols(pkg) })
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// What the protocol itself imports is all there.
	own, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../baselines/homa").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(own)) {
		pkg, ok := strings.CutPrefix(strings.TrimSpace(line), module)
		if ok && !slices.Contains(got, pkg) {
			t.Errorf("homa imports %s, which does not count", pkg)
		}
	}
}

// Files that are not Go code do not count, though workloads are part of every experiment that has
// one, and the guest's kernel of those on virtual: where this fails, points of another content are
// of no use and have to be removed.
func TestOtherFilesAreAsPointsHaveThem(t *testing.T) {
	for name, want := range map[string]string{
		"traffic/workloads/wka.csv":       "f8deee30c1e1384c",
		"traffic/workloads/wkb.csv":       "cefb850161417a00",
		"traffic/workloads/wkc.csv":       "2f0e74611f3e8120",
		"emu/virtual/kernel/config":       "aa24c06d752f7e23",
		"emu/virtual/kernel/kernel.patch": "c3e0034b1eda501f",
	} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(text)); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s, points are of %s", name, got[:16], want)
		}
	}
}

// onlyOfProtocols reports whether nothing but protocols imports a package.
func onlyOfProtocols(pkg string) bool { return strings.HasPrefix(pkg, "sirdnode/transport/") }

// Each protocol has code of its own on each engine, by which it differs from the others.
func TestEachProtocolHasItsOwn(t *testing.T) {
	for engine := range roots {
		seen := map[string]string{}
		for _, p := range all.List() {
			sum, err := Of(engine, &p)
			if err != nil {
				t.Fatal(err)
			}
			packages, _ := Packages(engine, &p)
			if other, same := seen[sum]; same && !strings.HasPrefix(p.Name, "tcp") {
				t.Errorf("%s: %s and %s are the same code: %v", engine, p.Name, other, packages)
			}
			seen[sum] = p.Name
			if slices.Contains(packages, selection) {
				t.Errorf("%s depends on the list of protocols", p.Name)
			}
		}
	}
}

// Comments and layout do not count, everything else does.
func TestTokens(t *testing.T) {
	text := func(code string) (s string) {
		err := tokens([]byte(code), func(t token.Token, literal string) { s += t.String() + literal + " " })
		if err != nil {
			t.Error(err)
		}
		return s
	}
	one := text("package a\n\n// F is one.\nfunc F() int { return 1 }\n")
	if text("package a\nfunc F() int {\n\treturn 1 /* is */\n}") != text("package a\nfunc F() int {\n\treturn 1\n}") {
		t.Error("a comment counts")
	}
	if one == text("package a\nfunc F() int { return 2 }\n") {
		t.Error("a number does not count")
	}
	if tokens([]byte("package \x00"), func(token.Token, string) {}) == nil {
		t.Error("what is no code is code")
	}
}

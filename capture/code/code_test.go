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

// What counts is what the go command says the packages import, on any system, in which an engine's
// results are made, and the protocol: all but what is imported by the list of protocols alone.
func TestPackagesAreThoseOfTheGoCommand(t *testing.T) {
	p, err := all.Find("homa")
	if err != nil {
		t.Fatal(err)
	}
	imports := importsByGo(t)
	for engine, made := range map[emu.EngineName][]string{
		emu.Model:   {"emu/model", "capture/results"},
		emu.Real:    {"emu/real", "sirdnode/node", "capture/results"},
		emu.Virtual: {"emu/virtual", "emu/real", "sirdnode/node", "capture/results"},
	} {
		want := append([]string{"baselines/homa"}, made...)
		for i := 0; i < len(want); i++ {
			for _, pkg := range imports[want[i]] {
				if pkg != "baselines/all" && !slices.Contains(want, pkg) {
					want = append(want, pkg)
				}
			}
		}
		slices.Sort(want)
		got, err := Packages(engine, &p)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 20 || !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s, want\n%s", engine, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// importsByGo are the imports of each package of this module, as the go command has them.
func importsByGo(t *testing.T) map[string][]string {
	imports := map[string][]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`,
			"../../...")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			pkg := strings.TrimPrefix(fields[0], module)
			for _, imported := range fields[1:] {
				if own, ok := strings.CutPrefix(imported, module); ok {
					imports[pkg] = append(imports[pkg], own)
				}
			}
		}
	}
	return imports
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

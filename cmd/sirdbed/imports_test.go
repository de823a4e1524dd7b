package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// order lists the packages from what knows nothing to what knows all. A package
// imports only from lines above its own, and from what is below its own path.
var order = []string{
	"topo/units", "topo/regular", "topo/limit", "topo", "traffic",
	"sirdnode/wire", "sirdnode/transport", "sirdnode/record", "sirdnode/fault", "sirdnode/clock", "sirdnode/ring",
	"sirdnode/sird", "baselines/flow", "baselines", "baselines/all",
	"sirdnode/host", "sirdnode/message", "sirdnode/node", "sirdnode",
	"emu/atomicfile", "emu/thread", "emu/sudo", "emu/tree",
	"emu", "emu/rlimit", "emu/rights", "emu/fabric/rtnl", "sirdnode/endpoint",
	"emu/sandbox", "emu/launch", "emu/fabric/port",
	"emu/fabric/device", "emu/fabric",
	"emu/real", "emu/virtual", "emu/model",
	"capture/stats", "capture", "capture/packets", "capture/results", "capture/code", "capture/points",
	"capture/verdict", "capture/metric",
	"capture/report", "capture/live",
	"capture/internal",
	"scenarios", "scenarios/paper", "scenarios/sweep", "scenarios/reproduce", "cmd",
}

// topLevel is all that the repository has at its top, besides dot files.
var topLevel = []string{
	"cmd", "emu", "topo", "sirdnode", "baselines", "traffic", "capture", "scenarios", "scripts",
	"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "RESULTS.md", "LICENSE", "go.mod", "go.sum",
}

// ignored is what users make there and git ignores.
var ignored = []string{"sirdbed", "copier", "rpcping", "results"}

// support lists the packages, with those below them, that only tests import, and one
// another.
var support = []string{
	"sirdnode/nstest", "sirdnode/transport/headertest", "sirdnode/message/brokertest",
	"emu/effort", "emu/internal", "emu/model/modeltest",
	"capture/internal",
}

const module = "sirdbed"

// shared is what several baselines have in common: the only one that others
// import.
const shared = "baselines/flow"

// line is the place of a package in order, -1 if it has none.
func line(pkg string) int {
	best := -1
	for i, p := range order {
		if pkg == p || strings.HasPrefix(pkg, p+"/") {
			if best < 0 || len(p) > len(order[best]) {
				best = i
			}
		}
	}
	return best
}

// supports reports whether a package is one of support's.
func supports(pkg string) bool {
	return slices.ContainsFunc(support, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

// eachFile parses every Go file of the module.
func eachFile(t *testing.T, visit func(pkg, path string, file *ast.File)) {
	t.Helper()
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		results := path == filepath.Join(root, "results") // those of runs; capture/results is a package
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || results) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		visit(filepath.ToSlash(pkg), path, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func imports(file *ast.File) (list []string) {
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		list = append(list, path)
	}
	return list
}

func TestPackagesImportOnlyThoseAboveThem(t *testing.T) {
	eachFile(t, func(pkg, path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		mine := line(pkg)
		if mine < 0 {
			t.Errorf("%s: package %s has no place in the order of packages", path, pkg)
			return
		}
		for _, imported := range imports(file) {
			its, ok := strings.CutPrefix(imported, module+"/")
			if !ok {
				continue
			}
			if theirs := line(its); theirs > mine || theirs < 0 {
				t.Errorf("%s imports %s, which comes after %s", path, its, pkg)
			}
			if supports(its) && !supports(pkg) {
				t.Errorf("%s imports %s, which is for tests alone", path, its)
			}
			if strings.HasPrefix(pkg, "baselines/") && strings.HasPrefix(its, "baselines/") && its != shared &&
				pkg != "baselines/all" && !strings.HasPrefix(pkg, its+"/") {
				t.Errorf("%s imports %s: the baselines know nothing of each other", path, its)
			}
		}
	})
}

func TestOnlyWireAndCaptureKnowGopacket(t *testing.T) {
	eachFile(t, func(pkg, path string, file *ast.File) {
		if strings.HasPrefix(pkg, "sirdnode/wire/") || pkg == "capture" {
			return
		}
		for _, imported := range imports(file) {
			if strings.HasPrefix(imported, "github.com/google/gopacket") {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	})
}

// A protocol is a state machine: time, randomness and packets are passed in.
func TestProtocolsHaveNoSocketClockOrGoroutine(t *testing.T) {
	barred := []string{"time", "net", "os", "sync", "syscall", "golang.org/x/sys/unix", "crypto/rand"}
	eachFile(t, func(pkg, path string, file *ast.File) {
		protocol := pkg == "sirdnode/sird" || pkg == "sirdnode/transport" ||
			strings.HasPrefix(pkg, "baselines/") && pkg != "baselines/tcp/sockets"
		if !protocol || strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, imported := range imports(file) {
			if slices.Contains(barred, imported) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s starts a goroutine", path)
			}
			return true
		})
	})
}

func TestTopLevelLayout(t *testing.T) {
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(ignored, name) || slices.Contains(topLevel, name) {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", name, "scenario.json")); err == nil {
			continue // a result, by --out
		}
		t.Errorf("%s has no place at the top of the repository", name)
	}
}

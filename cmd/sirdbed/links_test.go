package main

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// portable are the packages that build anywhere, emu alone without those below its
// path: scenarios, results and the model, down to the protocols.
var portable = []string{
	"topo", "traffic", "sirdnode/wire", "sirdnode/transport", "sirdnode/record", "sirdnode/fault", "sirdnode/sird",
	"sirdnode/host", "baselines", "emu", "emu/atomicfile", "emu/model", "capture", "scenarios",
}

// isPortable reports whether a package is one of those. Kernel TCP's driver opens
// sockets.
func isPortable(pkg string) bool {
	if pkg == "baselines/tcp/sockets" {
		return false
	}
	return slices.ContainsFunc(portable, func(p string) bool {
		return pkg == p || p != "emu" && strings.HasPrefix(pkg, p+"/")
	})
}

// What knows nothing of Linux reaches neither its system calls nor eBPF, by none of
// this module's packages.
func TestPortablePackagesLinkNeitherLinuxNorEBPF(t *testing.T) {
	barred := []string{"golang.org/x/sys/unix", "github.com/cilium/ebpf", "os/exec"}
	imported := map[string]map[string]bool{}
	eachFile(t, func(pkg, path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		if imported[pkg] == nil {
			imported[pkg] = map[string]bool{}
		}
		for _, i := range imports(file) {
			imported[pkg][i] = true
		}
	})
	for pkg := range imported {
		if !isPortable(pkg) || supports(pkg) {
			continue
		}
		seen := map[string]bool{}
		var visit func(by []string)
		visit = func(by []string) {
			for i := range imported[by[len(by)-1]] {
				if slices.Contains(barred, i) {
					t.Errorf("%s links %s, by %s", pkg, i, strings.Join(by, ", "))
				}
				if its, ok := strings.CutPrefix(i, module+"/"); ok && !seen[its] {
					seen[its] = true
					visit(append(slices.Clone(by), its))
				}
			}
		}
		visit([]string{pkg})
	}
}

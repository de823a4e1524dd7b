package main

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"sirdbed/sirdnode"
)

// buildOf is what a program says of itself.
func buildOf(path string, change map[string]string) *debug.BuildInfo {
	b := &debug.BuildInfo{GoVersion: "go1.26", Path: path}
	settings := map[string]string{"GOARCH": "amd64", "CGO_ENABLED": "0"}
	libraries := map[string]string{"golang.org/x/sys": "v1"}
	for key, value := range change {
		if strings.Contains(key, "/") {
			libraries[key] = value
		} else {
			settings[key] = value
		}
	}
	for key, value := range settings {
		b.Settings = append(b.Settings, debug.BuildSetting{Key: key, Value: value})
	}
	for key, value := range libraries {
		b.Deps = append(b.Deps, &debug.Module{Path: key, Version: value})
	}
	return b
}

// Hosts run another program only if it is certain to be of the same code.
func TestSameBuild(t *testing.T) {
	const mine, node = "sirdbed/cmd/sirdbed", "sirdbed/cmd/sirdbed-node"
	type change = map[string]string
	for _, c := range []struct {
		name         string
		path         string
		mine, theirs change
		why          string // "" if they are the same
	}{
		{"the same", node, nil, nil, ""},
		{"another program", "other/cmd/sirdbed-node", nil, nil, "it is other/cmd/sirdbed-node"},
		{"of which one knows the commit", node, change{"vcs.revision": "a"}, nil, ""},
		{"with libraries of the controller", node, change{"github.com/spf13/cobra": "v1"}, nil, ""},
		{"another library", node, nil, change{"golang.org/x/sys": "v2"}, `golang.org/x/sys="v2`},
		{"other settings", node, nil, change{"GOARCH": "arm64"}, `GOARCH="arm64"`},
		{"a setting more", node, nil, change{"-race": "true"}, `-race="true"`},
		{"a setting less", node, change{"-tags": "x"}, nil, `-tags=""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := sameBuild(buildOf(mine, c.mine), buildOf(c.path, c.theirs))
			if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
				t.Errorf("%v", err)
			}
		})
	}
	other := buildOf(node, nil)
	other.GoVersion = "go1.27"
	if err := sameBuild(buildOf(mine, nil), other); err == nil {
		t.Error("compilers differ")
	}
}

// A program of other source, or of none, is not taken.
func TestSameSource(t *testing.T) {
	for script, same := range map[string]bool{"echo " + sirdnode.Source(): true, "echo 0123": false, "exit 1": false} {
		program := filepath.Join(t.TempDir(), nodeName)
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := sameSource(program); (err == nil) != same {
			t.Errorf("%q: %v", script, err)
		}
	}
}

// sirdnode.Source has all that a host is made of, and sirdbed-node nothing that it
// does not need: gopacket's tables alone are 7 MB in each process.
func TestNodeProgramIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{.Module.Path}} {{.ImportPath}}{{end}}", "../"+nodeName).Output()
	if err != nil {
		t.Fatal(err)
	}
	embedded := map[string]bool{module + "/cmd/" + nodeName: true}
	eachFile(t, func(pkg, path string, file *ast.File) {
		for _, tree := range []string{"topo", "traffic", "baselines", "sirdnode"} {
			if depth := strings.Count(pkg, "/"); (pkg == tree || strings.HasPrefix(pkg, tree+"/")) && depth <= 1 {
				embedded[module+"/"+pkg] = true
			}
		}
	})
	for line := range strings.Lines(string(out)) {
		library, pkg, _ := strings.Cut(strings.TrimSpace(line), " ")
		if library == module && !embedded[pkg] {
			t.Errorf("%s is part of a host, and not of sirdnode.Source", pkg)
		}
		if library != module && !slices.Contains(nodeLibraries, library) {
			t.Errorf("hosts are made of %s too", pkg)
		}
	}
}

package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"sirdbed/sirdnode"
)

// Hosts run sirdbed-node, the same code without what only the controller needs,
// if it is beside this program. What a host does must be what this program would
// do: so sirdbed-node has to be of the same source, by the same compiler, with the
// same settings and libraries. Otherwise this program is started again as the
// host, which takes longer and is the same else.

// nodeCommand is the argument with which sirdbed starts itself as a host.
const nodeCommand = "node"

// nodeName is the other program's name.
const nodeName = "sirdbed-node"

// nodeProgram returns the program of hosts, with arguments; why tells what is
// the matter with sirdbed-node if it is not that.
func nodeProgram() (argv []string, why error) {
	self := []string{"/proc/self/exe", nodeCommand}
	program, err := os.Executable()
	if err != nil {
		return self, err
	}
	beside := filepath.Join(filepath.Dir(program), nodeName)
	theirs, err := buildinfo.ReadFile(beside)
	if errors.Is(err, os.ErrNotExist) {
		return self, fmt.Errorf("it is not beside %s", program)
	}
	if err != nil {
		return self, err
	}
	mine, ok := debug.ReadBuildInfo()
	if !ok {
		return self, errors.New("this program does not know what it was built from")
	}
	if err := sameBuild(mine, theirs); err != nil {
		return self, err
	}
	if err := sameSource(beside); err != nil {
		return self, err
	}
	return []string{beside}, nil
}

// sameBuild tells why two programs of this module cannot be taken to consist of
// the same code, if their source is the same.
func sameBuild(mine, theirs *debug.BuildInfo) error {
	if want := path.Join(path.Dir(mine.Path), nodeName); theirs.Path != want {
		return fmt.Errorf("it is %s, not %s", theirs.Path, want)
	}
	if theirs.GoVersion != mine.GoVersion {
		return fmt.Errorf("it was built by %s, and this program by %s", theirs.GoVersion, mine.GoVersion)
	}
	ours, its := settings(mine), settings(theirs)
	all := maps.Clone(ours)
	maps.Copy(all, its)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if ours[key] != its[key] {
			return fmt.Errorf("it was built with %s=%q, and this program with %q", key, its[key], ours[key])
		}
	}
	return nil
}

// settings are what a program was built with: the compiler's, and its libraries.
// This program has more of these, which do not matter, and so has the name of the
// commit.
func settings(b *debug.BuildInfo) map[string]string {
	m := map[string]string{}
	for _, s := range b.Settings {
		if !strings.HasPrefix(s.Key, "vcs") {
			m[s.Key] = s.Value
		}
	}
	for _, d := range b.Deps {
		if !slices.Contains(nodeLibraries, d.Path) {
			continue
		}
		m[d.Path] = d.Version + " " + d.Sum
		if r := d.Replace; r != nil {
			m[d.Path] = r.Path + " " + r.Version + " " + r.Sum
		}
	}
	return m
}

// nodeLibraries are those of hosts.
var nodeLibraries = []string{"golang.org/x/sys"}

// askTime is how long sirdbed-node may take to say what it was built from.
const askTime = 10 * time.Second

// sameSource asks the program of hosts for its source.
func sameSource(program string) error {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "source").Output()
	if err != nil {
		return fmt.Errorf("it does not say what it was built from: %w", err)
	}
	if its := strings.TrimSpace(string(out)); its != sirdnode.Source() {
		return errors.New("it was built from other source")
	}
	return nil
}

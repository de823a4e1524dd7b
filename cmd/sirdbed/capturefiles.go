package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sirdbed/capture/packets"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/topo"
	"sirdbed/topo/regular"
)

// captures are the files that packets reads.
type captures struct {
	files  []packets.File
	fabric *topo.Fabric // that they are of, nil if that is not known
	dir    *tree.Dir    // of the variant, nil for a single file
}

// Close gives the directory back.
func (c *captures) Close() {
	if c.dir != nil {
		c.dir.Close()
	}
}

const captureSuffix = ".pcapng"

// openCaptures finds the captures that a path means: a file, a variant's directory, or a
// result, of which variant names one.
func openCaptures(path, variant string) (*captures, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if variant != "" {
			return nil, fmt.Errorf("--variant %s: %s is a file, not a result", variant, path)
		}
		file := packets.File{Path: path, Open: func() (*os.File, error) { return regular.Open(path) }}
		return &captures{files: []packets.File{file}, fabric: fabricAround(path)}, nil
	}
	dir, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := dir.Lstat(emu.ExperimentFile); err == nil {
		return ofVariant(dir)
	}
	defer dir.Close()
	names := capturedVariants(dir)
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no captures: a scenario asks for them with capture: [leaf1]", path)
	case variant == "" && len(names) > 1:
		return nil, fmt.Errorf("%s has captures of several variants: name one with --variant (%s)",
			path, strings.Join(names, ", "))
	case variant == "":
		variant = names[0]
	}
	sub, err := dir.Sub(results.VariantsDir + "/" + variant)
	if err != nil {
		return nil, fmt.Errorf("%s has no captures of variant %s: these have some: %s",
			path, variant, strings.Join(names, ", "))
	}
	return ofVariant(sub)
}

// capturedVariants names the variants of a result that have captures.
func capturedVariants(dir *tree.Dir) (names []string) {
	list, _ := dir.List(results.VariantsDir)
	for _, v := range list {
		files, err := dir.List(results.VariantsDir + "/" + v.Name() + "/" + emu.Captures)
		if err == nil && len(files) > 0 {
			names = append(names, v.Name())
		}
	}
	return names
}

// ofVariant returns the captures of a variant, in the directory that is theirs from now on.
func ofVariant(dir *tree.Dir) (*captures, error) {
	c := &captures{dir: dir, fabric: fabricOf(dir)}
	list, err := dir.List(emu.Captures)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range list {
		name := emu.Captures + "/" + file.Name()
		if strings.HasSuffix(name, captureSuffix) {
			c.files = append(c.files, packets.File{
				Path: dir.At(name), Open: func() (*os.File, error) { return dir.Open(name) },
			})
		}
	}
	if len(c.files) == 0 {
		c.Close()
		return nil, fmt.Errorf("%s has no captures: a scenario asks for them with capture: [leaf1]", dir.Path())
	}
	return c, nil
}

// fabricAround returns the fabric of the variant that a capture lies in, nil if it lies
// elsewhere.
func fabricAround(path string) *topo.Fabric {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	at := filepath.Dir(path)
	if filepath.Base(at) != emu.Captures {
		return nil
	}
	dir, err := tree.Open(filepath.Dir(at))
	if err != nil {
		return nil
	}
	defer dir.Close()
	return fabricOf(dir)
}

// fabricOf returns the fabric of a variant, nil if that cannot be read.
func fabricOf(dir *tree.Dir) *topo.Fabric {
	var x emu.Experiment
	if results.ReadJSON(dir, emu.ExperimentFile, &x) != nil {
		return nil
	}
	f, err := topo.New(x.Topology)
	if err != nil {
		return nil
	}
	return f
}

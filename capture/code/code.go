// Package code names the code that a result depends on: the engine's, the protocol's, and
// that of the statistics, without comments and tests, and without other protocols. A
// finished point of a sweep is of use as long as that has not changed, whatever else has.
//
// The program has its sources in it for that (the packages' Sources), so that the name is
// right wherever it was built. The Go version and other modules do not count.
package code

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sirdbed/baselines"
	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/sirdnode"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/traffic"
)

const module = "sirdbed/"

// folders are the sources by top-level folder.
var folders = map[string]embed.FS{
	"topo": topo.Sources, "traffic": traffic.Sources, "sirdnode": sirdnode.Sources,
	"baselines": baselines.Sources, "emu": emu.Sources, "capture": capture.Sources,
}

// selection is the package that knows all protocols: what it imports does not count.
const selection = "baselines/all"

// roots are the packages in which results of an engine are made.
var roots = map[emu.EngineName][]string{
	emu.Model:   {"emu/model", "capture/results"},
	emu.Real:    {"emu/real", "sirdnode/node", "capture/results"},
	emu.Virtual: {"emu/virtual", "emu/real", "sirdnode/node", "capture/results"},
}

// names has what Of has found.
var names sync.Map

// Of returns the name of the code that an engine's results with a protocol depend on: 16
// hexadecimal digits. It may be called from any goroutine.
func Of(engine emu.EngineName, p *transport.Protocol) (string, error) {
	type question struct {
		engine   emu.EngineName
		protocol string
	}
	asked := question{engine, p.Name}
	if name, ok := names.Load(asked); ok {
		return name.(string), nil
	}
	name, err := nameOf(engine, p)
	if err == nil {
		names.Store(asked, name)
	}
	return name, err
}

func nameOf(engine emu.EngineName, p *transport.Protocol) (string, error) {
	packages, err := Packages(engine, p)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, pkg := range packages {
		sum, err := hashOf(pkg)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, pkg, sum)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// Packages lists the packages that Of is of, in order.
func Packages(engine emu.EngineName, p *transport.Protocol) (list []string, err error) {
	own, err := home(p)
	if err != nil {
		return nil, err
	}
	next := append([]string{own}, roots[engine]...)
	seen := map[string]bool{selection: true}
	for len(next) > 0 {
		pkg := next[0]
		if next = next[1:]; seen[pkg] {
			continue
		}
		seen[pkg] = true
		list = append(list, pkg)
		imported, err := importsOf(pkg)
		if err != nil {
			return nil, err
		}
		next = append(next, imported...)
	}
	slices.Sort(list)
	return list, nil
}

// home is the package of a protocol: where its New is, or its driver's check.
func home(p *transport.Protocol) (string, error) {
	var f any = p.New
	if p.New == nil {
		f = p.CheckDriver
	}
	v := reflect.ValueOf(f)
	if !v.IsValid() || v.IsNil() {
		return "", fmt.Errorf("protocol %s has no code", p.Name)
	}
	name := runtime.FuncForPC(v.Pointer()).Name() // sirdbed/sirdnode/sird.New
	slash := strings.LastIndexByte(name, '/')
	dot := strings.IndexByte(name[slash+1:], '.')
	if pkg, ok := strings.CutPrefix(name, module); ok && dot > 0 {
		return strings.TrimPrefix(pkg[:len(pkg)-len(name[slash+1+dot:])], module), nil
	}
	return "", fmt.Errorf("the code of protocol %s is not in this module: %s", p.Name, name)
}

// files calls each with the Go files of a package but its tests, in order of their names.
func files(pkg string, each func(name string, text []byte) error) error {
	top, below, _ := strings.Cut(pkg, "/")
	folder, ok := folders[top]
	if !ok {
		return fmt.Errorf("the sources of package %s are not in this program", pkg)
	}
	if below == "" {
		below = "."
	}
	entries, err := fs.ReadDir(folder, below)
	if err != nil {
		return fmt.Errorf("sources of package %s: %w", pkg, err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := folder.ReadFile(path.Join(below, e.Name()))
		if err == nil {
			err = each(e.Name(), text)
		}
		if err != nil {
			return fmt.Errorf("%s/%s: %w", pkg, e.Name(), err)
		}
	}
	return nil
}

// importsOf lists the packages of this module that a package imports.
func importsOf(pkg string) (list []string, err error) {
	err = files(pkg, func(name string, text []byte) error {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if own, ok := strings.CutPrefix(imported, module); ok && err == nil {
				list = append(list, own)
			}
		}
		return nil
	})
	return list, err
}

// hashOf is the SHA-256 of a package's code as the compiler sees it.
func hashOf(pkg string) (string, error) {
	h := sha256.New()
	err := files(pkg, func(name string, text []byte) error {
		fmt.Fprintln(h, name)
		return tokens(text, func(t token.Token, literal string) { fmt.Fprintf(h, "%v %q\n", t, literal) })
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// errSyntax is what a file wraps that the scanner refuses.
var errSyntax = errors.New("it is no Go code")

// tokens yields a file's tokens, without comments.
func tokens(text []byte, each func(token.Token, string)) error {
	set := token.NewFileSet()
	var s scanner.Scanner
	var failed error
	s.Init(set.AddFile("", set.Base(), len(text)), text, func(at token.Position, message string) {
		failed = fmt.Errorf("%w: %d:%d: %s", errSyntax, at.Line, at.Column, message)
	}, 0)
	for {
		_, t, literal := s.Scan()
		if t == token.EOF {
			return failed
		}
		each(t, literal)
	}
}

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sirdbed/scenarios"
)

// Every sirdbed and go command of the documents, and the examples of --help, would
// be taken: command, flags, scenario, what --set changes, packages, tests.
func TestCommandsOfDocumentsParse(t *testing.T) {
	t.Parallel()
	tests := testFunctions(t)
	eachDocument(t, func(name, text string) {
		blocks, spans := commandsOf(text)
		for _, words := range append(blocks, spans...) {
			if err := acceptable(words, tests); err != nil {
				t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
			}
		}
	})
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if err := acceptable(wordsOf(line), tests); err != nil {
				t.Errorf("%s --help: %s: %v", c.CommandPath(), strings.TrimSpace(line), err)
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(newRoot())
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// commandsOf returns the commands in a document's code: blocks line by line, and
// spans, of which those that only name a command are left out.
func commandsOf(text string) (blocks, spans [][]string) {
	rest := prose(text)
	outside := strings.Split(rest, "\n")
	for i, line := range strings.Split(text, "\n") {
		if outside[i] == "" {
			blocks = append(blocks, wordsOf(line))
		}
	}
	for _, m := range codeSpan.FindAllStringSubmatch(strings.ReplaceAll(rest, "\n", " "), -1) {
		words := wordsOf(m[1])
		named, rest, err := newRoot().Find(words[min(1, len(words)):])
		if err != nil || named.HasParent() && len(rest) > 0 {
			spans = append(spans, words)
		}
	}
	return blocks, spans
}

// leading is what may stand before a command: a prompt, a key of YAML, settings.
var leading = regexp.MustCompile(`^(\$ |- |run: |sudo |[A-Z_]+=\S* )+`)

// wordsOf splits a line of a shell, as far as documents need it: one command,
// without what explains it behind two spaces or a #.
func wordsOf(line string) []string {
	line = leading.ReplaceAllString(strings.TrimSpace(line), "")
	for _, end := range []string{"  ", " #", " | ", " > ", " && ", " || ", "; "} {
		line, _, _ = strings.Cut(line, end)
	}
	words := strings.Fields(line)
	for i := range words {
		words[i] = strings.Trim(words[i], `"'`)
	}
	return words
}

// acceptable is nil for commands that would be taken, and for all that are neither
// sirdbed's nor go's.
func acceptable(words []string, tests map[string][]string) error {
	switch {
	case len(words) < 2:
		return nil
	case words[0] == "sirdbed" || words[0] == "./sirdbed":
		return sirdbedTakes(words[1:])
	case words[0] == "go" && words[1] == "run" && len(words) > 2 && words[2] == "./cmd/sirdbed":
		return sirdbedTakes(words[3:])
	case words[0] == "go" && slices.Contains([]string{"run", "build", "test", "vet", "install"}, words[1]):
		return goTakes(words[2:], tests)
	}
	return nil
}

// sirdbedTakes parses a command line of sirdbed, and loads the scenario that it
// names.
func sirdbedTakes(args []string) error {
	c, rest, err := newRoot().Find(args)
	if err != nil {
		return err
	}
	if slices.Contains(rest, "--help") || len(args) == 0 {
		return nil
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	rest = c.Flags().Args()
	if err := c.ValidateArgs(rest); err != nil {
		return err
	}
	switch c.Name() {
	case "run", "topo":
		return scenarioLoads(c, rest[0])
	case "sweep", "reproduce":
		return plans(c, args, rest)
	}
	return nil
}

// plans makes the plan of a sweep or a reproduction. Of a sweep of the reader's own scenario it reads
// axes and metrics alone.
func plans(c *cobra.Command, args, rest []string) error {
	if slurm, _ := c.Flags().GetBool("slurm"); slurm {
		return nil
	}
	if c.Name() == "sweep" && placeholder.MatchString(rest[0]) {
		var errs []error
		over, _ := c.Flags().GetStringArray("over")
		for _, text := range over {
			_, err := scenarios.ParseAxis(text)
			errs = append(errs, err)
		}
		metrics, _ := c.Flags().GetStringArray("metric")
		_, err := parseMetrics(metrics)
		return errors.Join(append(errs, err)...)
	}
	protocols, err := c.Flags().GetStringSlice("protocols")
	if err == nil && slices.Contains(protocols, "+mine") || slices.ContainsFunc(rest, placeholder.MatchString) {
		return nil
	}
	root := newRoot()
	root.SetArgs(append(slices.Clone(args), "--dry-run", "--points", "nosuch"))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	return root.Execute()
}

// placeholder is an argument that stands for others.
var placeholder = regexp.MustCompile(`^[A-Z]+$|^my[\w-]*\.yaml$`)

func scenarioLoads(c *cobra.Command, name string) error {
	if placeholder.MatchString(name) {
		return nil
	}
	var changes []scenarios.Change
	set, _ := c.Flags().GetStringArray("set")
	for _, text := range set {
		change, err := scenarios.ParseChange(text)
		if err != nil {
			return err
		}
		changes = append(changes, change)
	}
	if path.Ext(name) != "" {
		name = filepath.Join("../..", name)
	}
	s, err := scenarios.Load(name, changes...)
	if err != nil {
		return err
	}
	variants, _ := c.Flags().GetStringSlice("variant")
	if slices.ContainsFunc(variants, placeholder.MatchString) {
		variants = nil
	}
	_, err = s.Experiments(scenarios.Options{Variants: variants})
	return err
}

// goTakes looks for the packages that a go command names, and for the tests.
func goTakes(args []string, tests map[string][]string) error {
	var packages []string
	for _, a := range args {
		if after, ok := strings.CutPrefix(a, "./"); ok {
			packages = append(packages, after)
			if dir := strings.Trim(strings.TrimSuffix(a, "..."), "./"); !there(dir) {
				return fmt.Errorf("there is no %s", dir)
			}
		}
	}
	for i, a := range args[:max(0, len(args)-1)] {
		if !slices.Contains([]string{"-run", "-bench", "-fuzz"}, a) || args[i+1] == "^$" {
			continue
		}
		pattern, err := regexp.Compile(args[i+1])
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(packages, func(p string) bool {
			return slices.ContainsFunc(tests[p], pattern.MatchString)
		}) {
			return fmt.Errorf("no test of %v matches %s %s", packages, a, args[i+1])
		}
	}
	return nil
}

// testFunctions returns the tests, benchmarks and fuzz targets of each package,
// by its folder; of "folder/..." those of all below it.
func testFunctions(t *testing.T) map[string][]string {
	list := map[string][]string{}
	name := regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)`)
	eachFile(t, func(pkg, file string, parsed *ast.File) {
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !name.MatchString(f.Name.Name) || !strings.HasSuffix(file, "_test.go") {
				continue
			}
			list[pkg] = append(list[pkg], f.Name.Name)
			for dir := pkg; dir != "."; dir = path.Dir(dir) {
				list[dir+"/..."] = append(list[dir+"/..."], f.Name.Name)
			}
			list["..."] = append(list["..."], f.Name.Name)
		}
	})
	return list
}

func TestAcceptableFindsMistakes(t *testing.T) {
	tests := map[string][]string{"emu/model": {"TestIsThere"}}
	for line, want := range map[string]string{
		"sirdbed run quickstart --engine model":               "",
		"$ sudo sirdbed doctor":                               "",
		"sirdbed run FILE --set sird.sthr=inf":                "",
		"sirdbed run incast --variant srpt,rr  two of them":   "",
		"go run ./cmd/sirdbed topo scenarios/incast.yaml":     "",
		"sirdbed exec h1-1 ping -c 3 10.250.1.4":              "",
		"sirdbed run --help":                                  "",
		"go test ./emu/model -run IsThere":                    "",
		"sirdbed ruin quickstart":                             "no command",
		"sirdbed run quickstart --engien model":               "unknown flag",
		"sirdbed run":                                         "usage: sirdbed run SCENARIO",
		"sirdbed run nowhere.yaml":                            "no scenario",
		"sirdbed run incast --set sird.nothing=1":             "nothing",
		"sirdbed run incast --variant nowhere":                "nowhere",
		"go test ./emu/nothing":                               "there is no emu/nothing",
		"CGO_ENABLED=0 go test ./emu/model -run TestNotThere": "no test",
	} {
		err := acceptable(wordsOf(line), tests)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want an error with %q", line, err, want)
		}
	}
}

package main

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// A test, benchmark or fuzz target, and an exported name of a package, as
// documents write them.
var (
	testName = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w+`)
	codeName = regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)`)
)

// Names of tests, and names of packages' declarations such as clock.Clock, are
// those of the code.
func TestNamesInDocumentsExist(t *testing.T) {
	declared, tests := declarations(t)
	eachDocument(t, func(name, text string) {
		for _, test := range testName.FindAllString(text, -1) {
			if !tests[test] {
				t.Errorf("%s names %s, which is not there", name, test)
			}
		}
		for _, m := range codeName.FindAllStringSubmatch(text, -1) {
			if names, ok := declared[m[1]]; ok && !names[m[2]] {
				t.Errorf("%s names %s, which is not there", name, m[0])
			}
		}
	})
}

// CONTRIBUTING has every environment variable of the code, and no other.
func TestEnvironmentVariablesAreDocumented(t *testing.T) {
	const document = "CONTRIBUTING.md"
	variable := regexp.MustCompile(`\bSIRDBED_[A-Z_]+`)
	documented, used := map[string]bool{}, map[string]string{}
	eachText(t, func(name, text string) {
		for _, v := range variable.FindAllString(text, -1) {
			if name == document {
				documented[v] = true
			} else {
				used[v] = name
			}
		}
	})
	for v, name := range used {
		if !documented[v] {
			t.Errorf("%s has %s, and %s does not", name, v, document)
		}
	}
	for v := range documented {
		if used[v] == "" {
			t.Errorf("%s has %s, which nothing uses", document, v)
		}
	}
}

// declarations returns the names that packages declare at their top, by package
// name, and those of their tests.
func declarations(t *testing.T) (declared map[string]map[string]bool, tests map[string]bool) {
	declared, tests = map[string]map[string]bool{}, map[string]bool{}
	eachFile(t, func(_, file string, parsed *ast.File) {
		names := tests
		if !strings.HasSuffix(file, "_test.go") {
			pkg := parsed.Name.Name
			if declared[pkg] == nil {
				declared[pkg] = map[string]bool{}
			}
			names = declared[pkg]
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							names[id.Name] = true
						}
					}
				}
			}
		}
	})
	return declared, tests
}

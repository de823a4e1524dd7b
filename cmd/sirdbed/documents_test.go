package main

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unavailable names what readers of the repository do not have.
var unavailable = regexp.MustCompile(
	`\b(design|protocols|linux|virtual-clock|style)\.md\b|\bpaper\.tex\b|\.\./shared\b|(?i)\bthe issue\b`)

// thisFile has the names that the others must not have.
const thisFile = "cmd/sirdbed/documents_test.go"

// eachText visits every text file of the repository, by its path from there.
func eachText(t *testing.T, visit func(name, text string)) {
	t.Helper()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == ".git" || name == ".cache" || slices.Contains(ignored, name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err == nil && !bytes.ContainsRune(text, 0) {
			visit(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// eachDocument visits every Markdown file.
func eachDocument(t *testing.T, visit func(name, text string)) {
	t.Helper()
	eachText(t, func(name, text string) {
		if path.Ext(name) == ".md" {
			visit(name, text)
		}
	})
}

// there reports whether the repository has a file or a folder.
func there(name string) bool {
	_, err := os.Stat(filepath.Join("../..", filepath.FromSlash(name)))
	return err == nil
}

func TestNothingIsCitedThatReadersDoNotHave(t *testing.T) {
	eachText(t, func(name, text string) {
		if name == thisFile {
			return
		}
		for i, line := range strings.Split(text, "\n") {
			if found := unavailable.FindString(line); found != "" {
				t.Errorf("%s:%d names %q, which is not in the repository", name, i+1, found)
			}
		}
	})
}

// mention is a path as documents and comments write it. Its first part decides
// whether it is one of this repository.
var mention = regexp.MustCompile(`(?:[\w.-]+/)+[\w.-]*\w`)

// extensions are those of files whose mention must be right anywhere.
var extensions = []string{".go", ".md", ".yaml", ".json", ".csv", ".patch", ".sh", ".txtar"}

// Every path that begins with a folder of the repository leads to something: in
// documents all of them, in other files those that end in a file's name. In a
// document a path may also begin in the document's own folder, and leave .md out.
func TestPathsThatAreMentionedExist(t *testing.T) {
	eachText(t, func(name, text string) {
		document := path.Ext(name) == ".md"
		for i, line := range strings.Split(text, "\n") {
			for _, p := range mention.FindAllString(line, -1) {
				first, _, _ := strings.Cut(p, "/")
				known := slices.Contains(topLevel, first) && !strings.Contains(first, ".") ||
					first == ".ci" || first == ".github"
				file := slices.Contains(extensions, path.Ext(p))
				if !known || strings.Contains(line, module+"/"+p) || !document && !file || foreign(p) {
					continue
				}
				if !there(p) && !(document && (there(p+".md") || there(path.Join(path.Dir(name), p)))) {
					t.Errorf("%s:%d: there is no %s", name, i+1, p)
				}
			}
		}
	})
}

// foreign reports whether a path is one of the released simulator's.
func foreign(p string) bool { return strings.HasPrefix(p, "scripts/r2p2/") }

// link is a Markdown link or picture, and its target.
var link = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)

func TestLinksOfDocumentsWork(t *testing.T) {
	anchors := map[string][]string{}
	eachDocument(t, func(name, text string) { anchors[name] = anchorsOf(text) })
	eachDocument(t, func(name, text string) {
		for _, m := range link.FindAllStringSubmatch(prose(text), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			switch {
			case strings.HasPrefix(to, "..") || !there(to):
				t.Errorf("%s links to %s: there is no %s", name, m[1], to)
			case anchor != "" && !slices.Contains(anchors[to], anchor):
				t.Errorf("%s links to %s: no heading of %s makes that anchor; there are %q",
					name, m[1], to, anchors[to])
			}
		}
	})
}

// Comments cite the README beside the code by heading: "README, Crediting".
func TestSectionsThatCommentsCiteExist(t *testing.T) {
	headings := map[string][]string{}
	eachDocument(t, func(name, text string) { headings[name] = headingsOf(text) })
	eachFile(t, func(pkg, file string, parsed *ast.File) {
		for _, group := range parsed.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, after := range strings.Split(text, "README, ")[1:] {
				if !slices.ContainsFunc(readmesAbove(pkg, headings), func(heading string) bool {
					return strings.HasPrefix(after, heading)
				}) {
					t.Errorf("%s cites \"README, %.40s\": no README of its folder, or above it, has such a heading",
						file, after)
				}
			}
		}
	})
}

// readmesAbove returns the headings of a folder's README and of those above it.
func readmesAbove(folder string, headings map[string][]string) (list []string) {
	for {
		list = append(list, headings[path.Join(folder, "README.md")]...)
		if folder == "." {
			return list
		}
		folder = path.Dir(folder)
	}
}

// prose returns a document without its blocks of code, whose lines are left empty.
func prose(text string) string {
	fenced := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced || strings.HasPrefix(line, "    ") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

var headingLine = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)

func headingsOf(text string) (list []string) {
	for _, m := range headingLine.FindAllStringSubmatch(prose(text), -1) {
		list = append(list, strings.ReplaceAll(m[1], "`", ""))
	}
	return list
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchorsOf returns the anchors that GitHub makes of a document's headings.
func anchorsOf(text string) (list []string) {
	for _, h := range headingsOf(text) {
		a := strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(h), ""), " ", "-")
		list = append(list, a)
	}
	return list
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	got := anchorsOf("# A b\n\n## The `real` engine, and others\n\n    # no heading\n")
	if want := []string{"a-b", "the-real-engine-and-others"}; !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
}

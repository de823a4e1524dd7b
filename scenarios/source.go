package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"sirdbed/capture/report"
	"sirdbed/topo/limit"
)

// A source is a parsed scenario file, with the position of everything in it.
type source struct {
	file  string
	text  string
	lines []string
	root  *ast.MappingNode
	set   map[*token.Token]string // tokens that come from a --set, and which
}

// plainer adds what to do to messages of the parser that lack it.
func plainer(message string) string {
	switch {
	case strings.Contains(message, "value is not allowed in this context"):
		return message + ": indent it like the keys beside it"
	case strings.Contains(message, `found character '\t'`), strings.Contains(message, "found character '\t'"):
		return "a tab: indent with spaces"
	}
	return message
}

// byteOrderMark is what some editors begin a file of UTF-8 with.
const byteOrderMark = "\ufeff"

func parse(file string, given []byte) (*source, error) {
	text := strings.TrimPrefix(string(given), byteOrderMark)
	s := &source{file: file, text: text, lines: strings.Split(text, "\n"), set: map[*token.Token]string{}}
	if err := limit.ScenarioFile.Check(len(text)); err != nil {
		return nil, Errors{s.errorAt(nil, "%v", err)}
	}
	if line, column, what := unreadable(text); line > 0 {
		at := &token.Token{Position: &token.Position{Line: line, Column: column}}
		return nil, Errors{s.errorAt(at, "%s", what)}
	}
	tree, err := s.tree(text)
	if err != nil {
		return nil, Errors{err}
	}
	var docs []ast.Node
	for _, d := range tree.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			docs = append(docs, d.Body)
		}
	}
	switch {
	case len(docs) == 0:
		return nil, Errors{s.errorAt(nil,
			"the file is empty: it has to state at least a topology, traffic and a duration")}
	case len(docs) > 1:
		return nil, Errors{s.errorAt(docs[1].GetToken(), "a second document: a file holds one scenario")}
	}
	root, ok := resolve(docs[0]).(*ast.MappingNode)
	if !ok {
		return nil, Errors{s.errorAt(docs[0].GetToken(), "want keys and values, such as \"topology: ...\"")}
	}
	s.root = root
	return s, nil
}

// tree parses text that is small and readable.
func (s *source) tree(text string) (*ast.File, *Error) {
	tokens := lexer.Tokenize(text)
	if t, what := tooMuch(tokens); t != nil {
		return nil, s.errorAt(t, "%s", what)
	}
	tree, err := parser.Parse(tokens, 0)
	if err == nil {
		return tree, nil
	}
	if e, ok := errors.AsType[yaml.Error](err); ok {
		return nil, s.errorAt(e.GetToken(), "%s", plainer(e.GetMessage()))
	}
	return nil, s.errorAt(nil, "%v", err)
}

// resolve makes a mapping of a single pair a mapping like the others.
func resolve(n ast.Node) ast.Node {
	if pair, ok := n.(*ast.MappingValueNode); ok {
		return ast.Mapping(pair.Start, false, pair)
	}
	return n
}

// find follows a path such as "topology.links[2].between" as far as it goes. It
// returns the token of the value there (of the key, where the value has
// children of its own), and whether the whole path was there.
func (s *source) find(path string) (at *token.Token, found bool) {
	var node ast.Node = s.root
	for _, step := range steps(path) {
		key, value := child(node, step)
		if value == nil {
			return at, false
		}
		node, at = resolve(value), value.GetToken()
		switch node.(type) {
		case *ast.MappingNode, *ast.SequenceNode, *ast.NullNode:
			if key != nil {
				at = key.GetToken()
			}
		}
	}
	return at, true
}

// steps cuts "a.b[2].c" into a, b, 2, c. A name in brackets may have dots.
func steps(path string) (list []string) {
	for path != "" {
		if path[0] == '[' {
			if i := strings.IndexByte(path, ']'); i > 0 {
				list, path = append(list, path[1:i]), strings.TrimPrefix(path[i+1:], ".")
				continue
			}
		}
		i := strings.IndexAny(path, ".[")
		if i <= 0 {
			return append(list, path)
		}
		list, path = append(list, path[:i]), strings.TrimPrefix(path[i:], ".")
	}
	return list
}

// child returns the value that a step leads to and its key, if it has one. In a
// list a step is an index or the name of an item.
func child(n ast.Node, step string) (key, value ast.Node) {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if keyOf(pair) == step {
				return pair.Key, pair.Value
			}
		}
	case *ast.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Values) {
			return nil, n.Values[i]
		}
		for _, item := range n.Values {
			if _, name := child(resolve(item), "name"); name != nil && scalar(name) == step {
				return nil, item
			}
		}
	}
	return nil, nil
}

// keyOf is the key of a pair as written, without quotes.
func keyOf(pair *ast.MappingValueNode) string { return scalar(pair.Key) }

// scalar is the text of a scalar as written, without quotes.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	if t := n.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

var errSeveral = errors.New("it sets more than that one value: give each a --set of its own")

// assign puts value, a piece of YAML, at path. Mappings on the way are made
// where they are missing.
func (s *source) assign(path, value string) error {
	given := fmt.Sprintf("--set %s=%s", shortened(path), shortened(value))
	fail := func(format string, args ...any) error {
		return Errors{{File: report.Printable(given), Message: fmt.Sprintf(format, args...)}}
	}
	list := steps(path)
	if len(list) > maxDepth {
		return fail("more than %d steps: no part of a scenario is nested as deep", maxDepth)
	}
	if len(list) == 0 || strings.HasPrefix(path, ".") {
		return fail("no such path: want one such as sird.sthr or traffic.small.size")
	}
	var node ast.Node = s.root
	depth := 0
	for ; depth < len(list)-1; depth++ {
		_, value := child(node, list[depth])
		if value == nil {
			break
		}
		node = resolve(value)
	}
	rest := list[depth:]
	if seq, ok := node.(*ast.SequenceNode); ok {
		i, err := strconv.Atoi(rest[0])
		if err != nil || len(rest) > 1 || i < 0 || i >= len(seq.Values) {
			return fail("%s has no item %q", strings.Join(list[:depth], "."), rest[0])
		}
		if seq.Values[i], err = s.snippet(given, value); err != nil {
			return fail("%v", err)
		}
		return nil
	}
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		return fail("%s is a single value, it has no %q", strings.Join(list[:depth], "."), rest[0])
	}
	for i := len(rest) - 1; i > 0; i-- {
		value = fmt.Sprintf("{%s: %s}", rest[i], value)
	}
	made, err := s.snippet(given, fmt.Sprintf("%s: %s", rest[0], value))
	if err != nil {
		return fail("%v", err)
	}
	pair := single(made, rest)
	if pair == nil {
		return fail("%v", errSeveral)
	}
	for i, old := range mapping.Values {
		if keyOf(old) == rest[0] {
			mapping.Values[i] = pair
			return nil
		}
	}
	mapping.Values = append(mapping.Values, pair)
	return nil
}

// single returns the pair at n if it leads through keys alone to a value, by nothing
// but mappings of one pair; otherwise nil.
func single(n ast.Node, keys []string) (top *ast.MappingValueNode) {
	for i, key := range keys {
		mapping, ok := resolve(n).(*ast.MappingNode)
		if !ok || len(mapping.Values) != 1 || keyOf(mapping.Values[0]) != key {
			return nil
		}
		if i == 0 {
			top = mapping.Values[0]
		}
		n = mapping.Values[0].Value
	}
	return top
}

// snippet parses a piece of YAML and remembers where it is from.
func (s *source) snippet(given, text string) (ast.Node, error) {
	if err := limit.SetValue.Check(len(text)); err != nil {
		return nil, err
	}
	if line, _, what := unreadable(text); line > 0 {
		return nil, errors.New(what)
	}
	tokens := lexer.Tokenize(text)
	if t, what := tooMuch(tokens); t != nil {
		return nil, errors.New(what)
	}
	tree, err := parser.Parse(tokens, 0)
	if err != nil || len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return nil, fmt.Errorf("%q is not a value", shortened(text))
	}
	if len(tree.Docs) > 1 {
		return nil, errSeveral
	}
	body := resolve(tree.Docs[0].Body)
	for t := first(body.GetToken()); t != nil; t = t.Next {
		s.set[t] = given
	}
	return body, nil
}

func first(t *token.Token) *token.Token {
	for t != nil && t.Prev != nil {
		t = t.Prev
	}
	return t
}

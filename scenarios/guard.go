package scenarios

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// What a file may have before it is parsed. The parser's time and memory grow with
// the square of both.
const (
	maxDepth = 16  // of lists and mappings inside one another; scenarios have 6
	maxKeys  = 100 // of one mapping; a scenario has fewer
)

// unreadable finds the first character that no scenario has: its place and what is
// wrong. Line 0: there is none.
func unreadable(text string) (line, column int, what string) {
	line, column = 1, 0
	for i, r := range text {
		column++
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			return line, column, "not UTF-8: save the file as UTF-8"
		case r == '\t', r == '\r', r >= ' ' && !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
		default:
			return line, column, fmt.Sprintf("the character %U: want text that can be printed, as UTF-8", r)
		}
	}
	return 0, 0, ""
}

// A nesting follows lists and mappings through the tokens of a file.
type nesting struct {
	open []level
	flow int // brackets open
}

// A level is a list or mapping that is open.
type level struct {
	bracket bool
	list    bool
	column  int // of a block: where it begins
	keys    int
}

// tooMuch finds the first token of what a parser would take too long for, or that
// scenarios do not have, and says what is wrong; nil: there is none.
func tooMuch(tokens token.Tokens) (*token.Token, string) {
	var n nesting
	for i, t := range tokens {
		switch t.Type {
		case token.AliasType, token.MergeKeyType:
			return t, "aliases (*name) are not for scenario files: write the value out"
		case token.AnchorType:
			return t, "anchors (&name) are not for scenario files: write the value out"
		case token.TagType:
			return t, "tags (!name) are not for scenario files: write the value without"
		case token.MappingKeyType:
			return t, `"?" is not for scenario files: write key: value`
		case token.SequenceStartType, token.MappingStartType:
			n.flow++
			n.open = append(n.open, level{bracket: true})
		case token.SequenceEndType, token.MappingEndType:
			n.close()
		case token.SequenceEntryType:
			n.block(t.Position.Column, true)
		case token.MappingValueType:
			if i > 0 {
				n.block(tokens[i-1].Position.Column, false)
			}
		}
		if len(n.open) > maxDepth {
			return t, fmt.Sprintf("nested more than %d deep: no part of a scenario is", maxDepth)
		}
		if len(n.open) > 0 && n.open[len(n.open)-1].keys > maxKeys {
			return tokens[max(0, i-1)], fmt.Sprintf("more than %d keys: no part of a scenario has as many", maxKeys)
		}
	}
	return nil, ""
}

// close ends what the last open bracket began.
func (n *nesting) close() {
	if n.flow == 0 {
		return // the parser's to report
	}
	n.flow--
	for last := len(n.open) - 1; last >= 0; last-- {
		if n.open[last].bracket {
			n.open = n.open[:last]
			return
		}
	}
}

// block counts an entry of a list or a key of a mapping at a column. Within brackets
// columns mean nothing.
func (n *nesting) block(column int, list bool) {
	if n.flow > 0 {
		n.open[len(n.open)-1].keys++
		return
	}
	for len(n.open) > 0 {
		top := &n.open[len(n.open)-1]
		if top.column < column || top.column == column && list && !top.list {
			break // the list of a key begins at the key's column, or further right
		}
		if top.column == column && top.list == list {
			if !list {
				top.keys++
			}
			return
		}
		n.open = n.open[:len(n.open)-1]
	}
	n.open = append(n.open, level{list: list, column: column, keys: 1})
}

package live

import (
	_ "embed"
	"strings"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// assemble returns the page, one file with its style and script, and the rules by which a
// browser runs these and nothing else, and lets the page ask its own server alone.
func assemble() (page []byte, rules string) {
	text := strings.NewReplacer("{{style}}", style, "{{script}}", script).Replace(pageText)
	return []byte(text), "default-src 'none'; script-src " + hashOf(script) + "; style-src " + hashOf(style) +
		"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

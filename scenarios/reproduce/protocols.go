package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/baselines/all"
)

// PaperProtocols are those of the paper's evaluation, in the order of its figures; its tables
// have that of paper.Protocols.
var PaperProtocols = []string{"dctcp", "swift", "xpass", "homa", "dcpim", "sird"}

// protocols resolves a list of protocols, of which those with a + come beside the paper's.
func protocols(asked []string) (list []string) {
	plain := slices.ContainsFunc(asked, func(p string) bool { return !strings.HasPrefix(p, "+") })
	if !plain {
		list = slices.Clone(PaperProtocols)
	}
	for _, p := range asked {
		if p = strings.TrimPrefix(p, "+"); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// checkProtocols refuses names that no protocol has.
func checkProtocols(asked []string) error {
	for _, p := range asked {
		if _, err := all.Find(strings.TrimPrefix(p, "+")); err != nil {
			return fmt.Errorf("--protocols: %w", err)
		}
	}
	return nil
}

package scenarios

import (
	"fmt"
	"strings"
)

// DidYouMean returns what to append to an error about an unknown name: the known
// one that was probably meant, or nothing.
func DidYouMean(unknown string, known []string) string {
	if s := suggest(unknown, known); s != "" {
		return ": " + s
	}
	return ""
}

// hintOf suggests a known name in place of an unknown one, or else lists them.
func hintOf(unknown string, known []string) string {
	if s := suggest(unknown, known); s != "" {
		return s
	}
	return "there are " + several(known)
}

// several lists names, the first of them if there are many.
func several(names []string) string {
	const most = 40
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// suggest proposes the known name that is closest to an unknown one, "" if none is
// close: as many changes as a short name has letters make any name of any other.
func suggest(unknown string, known []string) string {
	best, least := "", min(max(2, len(unknown)/3), len(unknown)/2)+1
	for _, k := range known {
		if max(len(k)-len(unknown), len(unknown)-len(k)) >= least {
			continue
		}
		if d := distance(strings.ToLower(unknown), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbors that lead from a to b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

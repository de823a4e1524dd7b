package reproduce

import (
	"slices"
	"testing"

	"sirdbed/capture/report"
)

// A protocol of a user's own is in every figure that compares protocols, in a color of its own.
func TestOwnProtocolsAreInTheFigures(t *testing.T) {
	f := found(t, Options{Figures: []string{"tables"}, Protocols: []string{"+aimd"}, Seeds: 1},
		func(load string) (float64, int64) {
			return map[string]float64{"0.5": 40, "0.7": 60, "0.95": 70}[load], 1e6
		})
	figures := f.Figures()
	for _, name := range []string{"fig5-slowdown", "fig6-balanced-wka", "fig13-core-wkc"} {
		i := slices.IndexFunc(figures, func(f report.Figure) bool { return f.Name == name })
		if i < 0 {
			t.Errorf("no %s among %s", name, names(figures))
			continue
		}
		colors := map[int]string{}
		for _, s := range figures[i].Series {
			if other, taken := colors[s.Look]; taken && other != s.Name {
				t.Errorf("%s: %s has the color of %s", name, s.Name, other)
			}
			colors[s.Look] = s.Name
			if len(s.Points) == 0 && s.Shape != report.Marks {
				t.Errorf("%s: %s has no points", name, s.Name)
			}
		}
		if !slices.ContainsFunc(figures[i].Series, func(s report.Series) bool {
			return s.Name == "aimd" && len(s.Points) > 0
		}) {
			t.Errorf("%s has no aimd: %s", name, seriesNames(&figures[i]))
		}
	}
}

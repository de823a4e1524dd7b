package report

import "strings"

// A FigureSet is figures that stand together, on a page and in a document.
type FigureSet struct {
	Heading string // "": none, and each figure has its own title
	Caption string // what the captions of all begin with
	Across  int    // figures beside each other, 2 or 3
	Figures []Figure
}

// Sets returns figures as they stand together: those one after another of one Set. What all
// captions of a set begin with is the set's.
func Sets(figures []Figure) (list []FigureSet) {
	for _, f := range figures {
		last := len(list) - 1
		if last < 0 || list[last].Heading != f.Set {
			list = append(list, FigureSet{Heading: f.Set, Across: min(max(2, f.Across), 3)})
			last++
		}
		list[last].Figures = append(list[last].Figures, f)
	}
	for i := range list {
		list[i].shareCaptions()
	}
	return list
}

// shareCaptions moves the sentences that all captions begin with to the set's.
func (s *FigureSet) shareCaptions() {
	if s.Heading == "" {
		return
	}
	common := strings.SplitAfter(s.Figures[0].Caption, ". ")
	for _, f := range s.Figures[1:] {
		own := strings.SplitAfter(f.Caption, ". ")
		n := 0
		for n < min(len(common), len(own)) && strings.TrimSpace(common[n]) == strings.TrimSpace(own[n]) {
			n++
		}
		common = common[:n]
	}
	shared := strings.TrimSpace(strings.Join(common, ""))
	s.Caption = shared
	for i := range s.Figures {
		s.Figures[i].Caption = strings.TrimSpace(strings.TrimPrefix(s.Figures[i].Caption, shared))
	}
}

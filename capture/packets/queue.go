package packets

import (
	"fmt"
	"iter"

	"sirdbed/capture"
	"sirdbed/topo"
)

// A Queue is how deep the queue of a port was, over the time of its capture.
type Queue struct {
	Port    string  `json:"port"`
	Packets int     `json:"packets"`
	Max     int64   `json:"max_bytes"`
	Mean    float64 `json:"mean_bytes"`
	P99     int64   `json:"p99_bytes"`
}

// AddQueues adds the queues that the capture of a switch of a fabric shows, within the
// filter's times, and of its port if it names one. A host's capture shows none.
func (s *Summary) AddQueues(f *topo.Fabric, file File, filter Filter) error {
	opened, err := file.Open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoCapture, err)
	}
	reader, err := capture.NewReader(opened)
	if err != nil {
		opened.Close()
		return fmt.Errorf("%w: %s: %w", ErrNoCapture, file.Path, err)
	}
	opened.Close()
	node, ok := f.Node(reader.Node())
	if !ok || node.Kind == topo.Host {
		return nil
	}
	if opened, err = file.Open(); err != nil {
		return fmt.Errorf("%w: %w", ErrNoCapture, err)
	}
	// That it is cut off is known already.
	depths, _ := capture.Depths(f, node, within(capture.Frames(opened, f), filter))
	for _, d := range depths {
		if filter.Port == "" || filter.Port == d.Port.Name {
			s.Queues = append(s.Queues, Queue{d.Port.Name, d.Packets, d.Max(), d.Mean(), d.Quantile(0.99)})
		}
	}
	return nil
}

// within returns the frames within the filter's times.
func within(frames iter.Seq2[capture.Frame, error], filter Filter) iter.Seq2[capture.Frame, error] {
	return func(yield func(capture.Frame, error) bool) {
		for fr, err := range frames {
			if err == nil && (fr.At < filter.From || filter.To != 0 && fr.At >= filter.To) {
				continue
			}
			if !yield(fr, err) {
				return
			}
		}
	}
}

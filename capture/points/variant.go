package points

import "sirdbed/capture/results"

// Variant returns a point's results as those of a variant, for metrics: without messages,
// series, and queues of single ports. name is what it is called.
func (p *Point) Variant(name string) (*results.Variant, error) {
	v, err := results.Kept(&p.Result, p.Experiment, p.Course, p.Curves)
	if err != nil {
		return nil, err
	}
	v.Name = name
	return v, nil
}

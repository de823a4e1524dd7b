package results

import "sirdbed/traffic"

// StreamOf is the name of the stream that a message is of, "" if it is of none.
func (v *Variant) StreamOf(m *Message) string { return streamOf(v.Experiment.Streams, m.Tag) }

func streamOf(streams []traffic.Stream, tag traffic.Tag) string {
	switch n := tag.Stream(); {
	case n < len(streams):
		return streams[n].Name
	case n == traffic.Programs:
		return traffic.ProgramsName
	}
	return ""
}

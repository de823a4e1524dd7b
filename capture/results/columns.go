package results

import (
	"fmt"
	"math"
	"os"

	"github.com/parquet-go/parquet-go"

	"sirdbed/emu/tree"
	"sirdbed/topo/units"
)

// The columns of a result's parquet files. They are stable: columns are only
// ever added. Times are nominal nanoseconds since the start of the run, sizes
// are bytes, ports and hosts have the names of the fabric.

// A MessageRow is a row of messages.parquet: one message, requests and replies
// alike. What did not happen is null.
type MessageRow struct {
	Variant  string `parquet:"variant,dict"`
	Protocol string `parquet:"protocol,dict"`
	Stream   string `parquet:"stream,dict"`
	Src      string `parquet:"src,dict"`
	Dst      string `parquet:"dst,dict"`
	ID       int64  `parquet:"id"`    // among those from src to dst
	Index    int32  `parquet:"index"` // among those of its stream from its source
	Reply    bool   `parquet:"reply"`
	Size     int64  `parquet:"size_bytes"` // payload
	Class    string `parquet:"class,dict"` // measured, warmup, too late, unfinished, failed, reply, after

	Offered   int64  `parquet:"offered_ns"` // nominal arrival at the sender's application
	Delivered *int64 `parquet:"delivered_ns,optional"`
	Acked     *int64 `parquet:"acked_ns,optional"`
	Failed    *int64 `parquet:"failed_ns,optional"`
	Completed *int64 `parquet:"completed_ns,optional"` // delivered, or where there is a reply the reply delivered
	Latency   *int64 `parquet:"latency_ns,optional"`   // completed - offered

	UnloadedPaper int64  `parquet:"unloaded_paper_ns"` // what latency is divided by for slowdown
	UnloadedExact int64  `parquet:"unloaded_exact_ns"` // 0 if not known
	Failure       string `parquet:"failure,dict"`
}

// A QueueRow is a row of queues.parquet: from t_ns on bytes and packets waited
// at a port, until its next row.
type QueueRow struct {
	Variant  string `parquet:"variant,dict"`
	Protocol string `parquet:"protocol,dict"`
	Port     string `parquet:"port,dict"`
	At       int64  `parquet:"t_ns"`
	Bytes    int64  `parquet:"bytes"`
	Packets  int64  `parquet:"packets"`
}

// A SeriesRow is a row of series.parquet: one sample of a gauge, or a mark of the timeline
// of faults, whose gauge is such as "fault/down" and whose host is a host or a link.
type SeriesRow struct {
	Variant  string  `parquet:"variant,dict"`
	Protocol string  `parquet:"protocol,dict"`
	Host     string  `parquet:"host,dict"`
	Gauge    string  `parquet:"gauge,dict"`
	At       int64   `parquet:"t_ns"`
	Value    float64 `parquet:"value"`
}

// batch is how many rows are collected before they are written.
const batch = 4096

// writeParquet writes the rows that each hands over to a file which is whole
// or not there.
func writeParquet[T any](dir *tree.Dir, name string, each func(put func(T) error) error) error {
	err := dir.Write(name, func(file *os.File) error {
		w := parquet.NewGenericWriter[T](file, parquet.Compression(&parquet.Snappy), parquet.CreatedBy("sirdbed", "1",
			""))
		rows := make([]T, 0, batch)
		flush := func() error {
			_, err := w.Write(rows)
			rows = rows[:0]
			return err
		}
		if err := each(func(row T) error {
			if rows = append(rows, row); len(rows) == batch {
				return flush()
			}
			return nil
		}); err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
		return w.Close()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", dir.At(name), err)
	}
	return nil
}

func happened(t units.Time) *int64 {
	if t == units.Never {
		return nil
	}
	n := int64(t)
	return &n
}

func (v *Variant) messageRows(put func(MessageRow) error) error {
	for i := range v.Messages {
		m := &v.Messages[i]
		row := MessageRow{
			Variant: v.Name, Protocol: v.Protocol, Src: v.Fabric.HostName(m.Src), Dst: v.Fabric.HostName(m.Dst),
			ID: int64(m.ID), Index: int32(m.Tag.Index()), Reply: m.Tag.IsReply(),
			Size: int64(m.Size), Class: m.Class.String(),
			Offered: int64(m.Offered), Delivered: happened(m.Delivered), Acked: happened(m.Acked),
			Failed: happened(m.Failed), Completed: happened(m.Completed), Failure: m.Failure,
			UnloadedPaper: int64(m.UnloadedPaper), UnloadedExact: int64(m.UnloadedExact),
		}
		row.Stream = v.StreamOf(m)
		if m.Completed != units.Never {
			row.Latency = happened(m.Latency())
		}
		if err := put(row); err != nil {
			return err
		}
	}
	return nil
}

func (v *Variant) queueRows(put func(QueueRow) error) error {
	for port, samples := range v.Queues.Ports {
		for _, s := range samples {
			row := QueueRow{v.Name, v.Protocol, v.Fabric.Ports[port].Name, int64(s.At), s.Bytes, s.Packets}
			if err := put(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *Variant) seriesRows(put func(SeriesRow) error) error {
	for i := range v.Gauges {
		g := &v.Gauges[i]
		for _, p := range g.Points {
			if math.IsNaN(p.Value) {
				continue
			}
			row := SeriesRow{v.Name, v.Protocol, v.Fabric.HostName(g.Host), g.Gauge, int64(p.At), p.Value}
			if err := put(row); err != nil {
				return err
			}
		}
	}
	return v.faultRows(put)
}

// faultRows marks what the timeline of faults did: of the host or link that it did it to, 1
// from when it began and 0 from when it was over.
func (v *Variant) faultRows(put func(SeriesRow) error) error {
	for i := range v.Experiment.Timeline {
		e := &v.Experiment.Timeline[i]
		row := SeriesRow{v.Name, v.Protocol, e.Where(), "fault/" + string(e.Do), int64(e.At), 1}
		if err := put(row); err != nil {
			return err
		}
		if end := e.End(); end <= v.End {
			row.At, row.Value = int64(end), 0
			if err := put(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// all passes on the rows of every variant, one variant after the other.
func ofAll[T any](variants []*Variant, rows func(*Variant, func(T) error) error) func(func(T) error) error {
	return func(put func(T) error) error {
		for _, v := range variants {
			if err := rows(v, put); err != nil {
				return err
			}
		}
		return nil
	}
}

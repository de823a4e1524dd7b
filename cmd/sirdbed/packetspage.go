package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sirdbed/capture/packets"
	"sirdbed/capture/report"
)

// rowsOfTables is how many rows of a table packets prints unless told otherwise.
const rowsOfTables = 20

// A packetsPage prints a summary of captures.
type packetsPage struct {
	w    io.Writer
	s    *packets.Summary
	in   *captures
	rows int // of a table, 0: rowsOfTables
}

func (p *packetsPage) print() error {
	s := p.s
	for _, file := range s.Files {
		fmt.Fprintln(p.w, report.Printable(file))
	}
	fmt.Fprintf(p.w, "%s of %s, %s to %s\n", count(s.Frames, "frame"), count(s.Packets, "packet"),
		micros(s.From), micros(s.To))
	for _, table := range []func() error{
		p.types, p.messages, p.connections, p.credit, p.senders, p.ports, p.queues,
	} {
		if err := table(); err != nil {
			return err
		}
	}
	return nil
}

// table prints as many of n rows as are asked for, and how many more there are.
func (p *packetsPage) table(n int, head []string, row func(i int) []string) error {
	if n == 0 {
		return nil
	}
	most := p.rows
	if most == 0 {
		most = rowsOfTables
	}
	fmt.Fprintln(p.w)
	t := newTable(p.w, head...)
	for i := range min(n, most) {
		cells := row(i)
		for j := range cells {
			cells[j] = report.Printable(cells[j])
		}
		t.row(cells...)
	}
	if err := t.render(); err != nil {
		return err
	}
	if n > most {
		fmt.Fprintf(p.w, "and %d more (--limit %d)\n", n-most, n)
	}
	return nil
}

// number prints a count, and nothing for none.
func number[T int | int64](n T) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func (p *packetsPage) types() error {
	head := []string{"protocol", "type", "packets", "payload", "frames"}
	return p.table(len(p.s.Types), head, func(i int) []string {
		t := p.s.Types[i]
		return []string{t.Protocol, t.Type, fmt.Sprint(t.Packets), humanSize(t.Payload), humanSize(t.Frames)}
	})
}

func (p *packetsPage) messages() error {
	list := p.s.Messages
	head := []string{"message", "id", "size", "first packet", "last packet", "packets", "sent again"}
	err := p.table(len(list), head, func(i int) []string {
		m := list[i]
		return []string{m.From + " > " + m.To, fmt.Sprint(m.ID), humanSize(m.Size), micros(m.First), micros(m.Last),
			fmt.Sprint(m.Packets), againText(m.Again)}
	})
	if err != nil || len(list) == 0 {
		return err
	}
	e := p.s.Earlier
	messages, again := e.Messages, e.Again
	for _, m := range list {
		messages, again = messages+1, again+m.Again
	}
	if e.Messages > 0 {
		fmt.Fprintf(p.w, "before these %s: only sums are kept\n", count(e.Messages, "message"))
	}
	_, err = fmt.Fprintf(p.w, "%s, %s sent again\n", count(messages, "message"), humanSize(again))
	return err
}

// againText is how many bytes were sent again.
func againText(n int64) string {
	if n == 0 {
		return "-"
	}
	return humanSize(n)
}

func (p *packetsPage) connections() error {
	list := p.s.Connections
	head := []string{"TCP connection", "ports", "first segment", "last segment", "segments", "payload", "sent again"}
	return p.table(len(list), head, func(i int) []string {
		c := list[i]
		return []string{c.From + " > " + c.To, fmt.Sprintf("%d > %d", c.FromPort, c.ToPort), micros(c.First),
			micros(c.Last), fmt.Sprint(c.Segments), humanSize(c.Payload), againText(c.Again)}
	})
}

func (p *packetsPage) credit() error {
	list := p.s.Credit
	head := []string{"credit", "of", "granted", "spent", "outstanding", "mean", "max", "over time"}
	return p.table(len(list), head, func(i int) []string {
		c := list[i]
		amount := func(n int64) string {
			if c.Unit == "packets" {
				return fmt.Sprint(n)
			}
			return humanSize(n)
		}
		mean := fmt.Sprintf("%.1f", c.Mean)
		if c.Unit != "packets" {
			mean = humanSize(int64(c.Mean))
		}
		return []string{c.From + " to " + c.To, c.Unit, amount(c.Granted), amount(c.Spent), amount(c.Outstanding), mean,
			amount(c.Max), bars(c.Over, c.Max)}
	})
}

// bars draws values over time, each as a part of the largest.
func bars(list []packets.Sample, most int64) string {
	const columns = 24
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	n := min(columns, len(list))
	for i := range n {
		var high int64
		for _, s := range list[i*len(list)/n : (i+1)*len(list)/n] {
			high = max(high, s.Max)
		}
		b.WriteRune(levels[high*int64(len(levels)-1)/max(1, most)])
	}
	return b.String()
}

func (p *packetsPage) senders() error {
	list := p.s.Senders
	head := []string{"sender", "packets", "with payload", "csn", "CE"}
	return p.table(len(list), head, func(i int) []string {
		s := list[i]
		return []string{s.Host, fmt.Sprint(s.Packets), fmt.Sprint(s.Data), number(s.CSN), number(s.CE)}
	})
}

func (p *packetsPage) ports() error {
	list := p.s.Ports
	head := []string{"port", "packets", "frames", "csn", "CE", "marked here"}
	return p.table(len(list), head, func(i int) []string {
		x := list[i]
		return []string{x.Port, fmt.Sprint(x.Packets), humanSize(x.Frames), number(x.CSN), number(x.CE),
			number(x.Marked)}
	})
}

func (p *packetsPage) queues() error {
	list := p.s.Queues
	if len(list) == 0 {
		if p.in.fabric == nil && slices.ContainsFunc(p.s.Ports, func(x packets.Port) bool {
			return strings.Contains(x.Port, ">")
		}) {
			fmt.Fprintln(p.w, "\nNo queues: they need the result that the capture is in.")
		}
		return nil
	}
	head := []string{"queue", "packets", "max", "mean", "p99"}
	return p.table(len(list), head, func(i int) []string {
		q := list[i]
		return []string{q.Port, fmt.Sprint(q.Packets), humanSize(q.Max), humanSize(int64(q.Mean)), humanSize(q.P99)}
	})
}

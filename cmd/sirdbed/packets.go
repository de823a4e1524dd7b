package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/spf13/cobra"

	"sirdbed/capture/packets"
	"sirdbed/capture/report"
	"sirdbed/sirdnode/wire/layer"
	"sirdbed/topo/units"
)

// packetsOptions are the flags of packets.
type packetsOptions struct {
	variant, host, port, from, to string
	message                       int64
	list, asJSON                  bool
	limit                         int
}

func newPackets() *cobra.Command {
	var o packetsOptions
	c := &cobra.Command{
		Use:   "packets CAPTURE|RESULT",
		Short: "Show what is in a capture: messages, credit, marks, queues",
		Long: text(`
			Show what is in a capture: a pcapng file, or all captures of a result's variant. The default is a summary:
			packets by type, messages with their packets and the bytes sent again, credit by pair of hosts (granted,
			spent, outstanding), marks by sender and by port (csn, and CE by switches), and how deep the queues of
			captured switches were. Kernel TCP is shown by connection. --list prints a line for each packet at each
			place where it was captured.

			A packet that was captured at several places counts once, where it was seen first; "marked here" are those
			that had no CE before this port. Outstanding credit is what was granted less what was spent, as seen there:
			where each credit is a packet, unused and dropped ones stay in it. Depths are computed from what went into a
			switch and what came out, and need the result that the capture is in.

			Times are nominal; --from and --to take units, such as 1.5ms.`),
		Example: examples(`
			sirdbed packets results/incast-20250101-120000 --variant srpt
			sirdbed packets leaf1.pcapng --host h1-4 --from 1ms --to 2ms
			sirdbed packets leaf1.pcapng --list --limit 20 --message 7 --host h1-1
			sirdbed packets leaf1.pcapng --list --port 'leaf1>h1-4'
			sirdbed packets leaf1.pcapng --json | jq '.messages[] | select(.retransmitted_bytes > 0)'`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: first(completeResults),
		RunE: func(c *cobra.Command, args []string) error {
			return tellPackets(args[0], o, c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "", "of a result: the `VARIANT` whose captures to read")
	f.BoolVar(&o.list, "list", false, "print a line for each packet at each place, in the order of time")
	f.IntVar(&o.limit, "limit", 0, "print at most `N` packets, or rows of a table (0: all packets, 20 rows)")
	f.StringVar(&o.host, "host", "", "only packets from or to this `HOST`, such as h1-2 or an address")
	f.StringVar(&o.port, "port", "", "only what this `PORT` sent, such as leaf1>h1-2")
	f.Int64Var(&o.message, "message", -1, "only packets about messages with this `ID`")
	f.StringVar(&o.from, "from", "", "only packets from this nominal `TIME` on, such as 1.5ms")
	f.StringVar(&o.to, "to", "", "only packets before this nominal `TIME`")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, in ns and bytes; with --list one object a line")
	completeFlag(c, "variant", noFiles)
	return c
}

// filter returns the packets that are asked for.
func (o *packetsOptions) filter() (f packets.Filter, err error) {
	f.Host, f.Port = o.host, o.port
	if o.limit < 0 {
		return f, badInput(fmt.Errorf("--limit is %d: want 0 or more", o.limit))
	}
	if o.message < -1 || o.message > math.MaxUint32 {
		return f, badInput(fmt.Errorf("--message is %d: want 0 to %d", o.message, uint32(math.MaxUint32)))
	}
	if o.message >= 0 {
		id := uint32(o.message)
		f.Message = &id
	}
	for _, x := range []struct {
		flag, text string
		to         *units.Time
	}{{"--from", o.from, &f.From}, {"--to", o.to, &f.To}} {
		if x.text == "" {
			continue
		}
		if *x.to, err = units.ParseTime(x.text); err != nil {
			return f, badInput(fmt.Errorf("%s: %w", x.flag, err))
		}
	}
	if o.from == "" {
		f.From = math.MinInt64
	}
	if o.to != "" && f.To <= max(0, f.From) {
		return f, badInput(fmt.Errorf("--to %v is not after --from %v", f.To, max(0, f.From)))
	}
	return f, nil
}

// registerLayers makes all protocols known to the decoders.
var registerLayers = sync.OnceFunc(func() {
	for _, p := range wireProtocols() {
		layer.Register(p)
	}
})

func tellPackets(path string, o packetsOptions, stdout io.Writer) error {
	filter, err := o.filter()
	if err != nil {
		return err
	}
	registerLayers()
	in, err := openCaptures(path, o.variant)
	if err != nil {
		return badInput(err)
	}
	defer in.Close()
	if o.list {
		return listPackets(in.files, filter, o, stdout)
	}
	s, err := packets.Summarize(in.files, filter)
	if err != nil {
		return badCapture(err)
	}
	for _, file := range in.files {
		// The queues of some packets alone are none.
		if in.fabric == nil || filter.Host != "" || filter.Message != nil {
			break
		}
		if err := s.AddQueues(in.fabric, file, filter); err != nil {
			return badCapture(err)
		}
	}
	if o.asJSON {
		err = printJSON(stdout, s)
	} else {
		err = (&packetsPage{w: stdout, s: s, rows: o.limit, in: in}).print()
	}
	if err == nil && len(s.Problems) > 0 {
		err = cutCapture(s.Problems)
	}
	return err
}

// badCapture is bad input if a file is no capture.
func badCapture(err error) error {
	if errors.Is(err, packets.ErrNoCapture) {
		return badInput(err)
	}
	return err
}

// cutCapture is the error of captures that were not read to their ends.
func cutCapture(problems []string) error {
	var list []error
	for _, text := range problems {
		list = append(list, fmt.Errorf("%s: the above is of what comes before that", text))
	}
	return errors.Join(list...)
}

func listPackets(files []packets.File, filter packets.Filter, o packetsOptions, stdout io.Writer) error {
	w := bufio.NewWriter(stdout)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	cut, err := packets.List(files, filter, o.limit, func(l packets.Line) error {
		if o.asJSON {
			return encoder.Encode(l)
		}
		return printLine(w, &l)
	})
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		return badCapture(err)
	}
	if cut != nil {
		return cutCapture([]string{cut.Error()})
	}
	return nil
}

// printLine prints a packet. "+" is where a node sent it, "-" where one received it.
func printLine(w io.Writer, l *packets.Line) error {
	way := "-"
	if l.Out {
		way = "+"
	}
	ends := ""
	if l.From != "" {
		ends = l.From + " > " + l.To
	}
	ce := ""
	if l.CE {
		ce = " CE"
	}
	_, err := fmt.Fprintf(w, "%12.3f us  %s%-14s %-15s %s %s%s\n", float64(l.At)/1000, way,
		report.Printable(l.Port), ends, report.Printable(l.Protocol), l.Text, ce)
	return err
}

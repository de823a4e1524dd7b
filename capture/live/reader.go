package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"sirdbed/emu"
	"sirdbed/emu/parts"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
)

// A reader follows the logs of a variant's run. It is for one goroutine.
type reader struct {
	dir     emu.RunDir
	variant *Variant // nil until the run has begun
	hosts   []*tail  // by HostID
	queues  []*tail  // one for each guest, until its run has ended
	reads   int64
	bytes   int64
	damaged string // what is wrong with a log, "" of none
}

// A tail is a log and the file that it follows, nil until that is there.
type tail struct {
	name string
	file *os.File
	*record.Tail
}

// lookLimit is how much of a log one look reads: what is left comes with the next ones.
const lookLimit = 4 << 20

// look reads what the logs have that was not there at the last look. Nothing that is there
// yet is no error.
func (r *reader) look() error {
	if r.variant == nil {
		if err := r.begin(); err != nil || r.variant == nil {
			return err
		}
	}
	r.variant.look()
	for h, t := range r.hosts {
		r.read(t, func(rec record.Record) { r.variant.Host(topo.HostID(h), rec) })
	}
	for _, t := range r.queues {
		r.read(t, r.variant.Queue)
	}
	return nil
}

// begin reads what is run, which is in the run's directory before anything else.
func (r *reader) begin() error {
	text, err := r.dir.Read(emu.ExperimentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	x := &emu.Experiment{}
	if err == nil {
		err = json.Unmarshal(text, x)
	}
	if err != nil {
		return err
	}
	if r.variant, err = NewVariant(x); err != nil {
		return err
	}
	for h := range r.variant.hosts {
		r.hosts = append(r.hosts, &tail{name: emu.HostLog(r.variant.Fabric.HostName(topo.HostID(h)))})
	}
	for guest := range max(1, x.Guests) {
		r.queues = append(r.queues, &tail{name: parts.File(guest, emu.QueueLog)})
	}
	return nil
}

// read follows one log. One that is damaged is read no further, as the report does.
func (r *reader) read(t *tail, take func(record.Record)) {
	if t.file == nil {
		file, err := r.dir.Open(t.name)
		if err != nil {
			return // it may come yet
		}
		t.file, t.Tail = file, record.NewTail(file)
	}
	n, err := t.Next(lookLimit, take)
	r.reads++
	r.bytes += int64(n)
	if err != nil && r.damaged == "" {
		r.damaged = fmt.Sprintf("%s: %v", t.name, err)
	}
}

// close gives the files back.
func (r *reader) close() {
	for _, t := range append(r.hosts, r.queues...) {
		if t.file != nil {
			t.file.Close()
		}
	}
	r.dir.Close()
}

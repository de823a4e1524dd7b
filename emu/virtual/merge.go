//go:build linux

package virtual

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"sirdbed/emu"
	"sirdbed/emu/parts"
)

// merge makes one result of what the guests have left: hosts' logs and captures are files of
// their own anyway. Of guests that died it takes what there is.
func (s *several) merge(dir emu.RunDir) error {
	return errors.Join(s.mergeFacts(dir), s.mergeQueues(dir))
}

// mergeFacts makes one of the guests' facts.
func (s *several) mergeFacts(dir emu.RunDir) error {
	var all []*emu.Facts
	for i := range s.parts {
		name := parts.File(i, emu.FactsFile)
		text, err := dir.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f := &emu.Facts{}
		if err == nil {
			err = json.Unmarshal(text, f)
		}
		if err == nil && i > 0 {
			err = dir.Remove(name)
		}
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	if len(all) < len(s.parts) {
		return nil // somebody has failed, and the run with it
	}
	return dir.End(s.joinFacts(all))
}

// joinFacts makes one of the facts of all guests, in the order of their numbers, of which there
// is one at least. What is not named here is the first guest's: it is the same in all, has been
// refused of several (programs, devices), or is filled in outside the guests (complete).
// TestEveryFactIsJoined has the list.
func (s *several) joinFacts(all []*emu.Facts) *emu.Facts {
	sum := all[0]
	for number, f := range all[1:] {
		s.joinPorts(sum.Ports, f.Ports, number+1)
		sum.Reached = max(sum.Reached, f.Reached)
		sum.ThreadCPU = max(sum.ThreadCPU, f.ThreadCPU)
		sum.SoftnetDrops += f.SoftnetDrops
		sum.CaptureDrops += f.CaptureDrops
		sum.LinkDrops += f.LinkDrops
		sum.Lateness = worse(sum.Lateness, f.Lateness)
		sum.SampleLateness = worse(sum.SampleLateness, f.SampleLateness)
		sum.FaultLateness = worse(sum.FaultLateness, f.FaultLateness)
		sum.FewMessages = worse(sum.FewMessages, f.FewMessages)
		if a, b := sum.SampleStalls, f.SampleStalls; a != nil && b != nil {
			a.Total, a.Longest = max(a.Total, b.Total), max(a.Longest, b.Longest)
		}
		if sum.Failure == "" || consequence(sum.Failure) {
			sum.Failure = f.Failure
		}
	}
	sum.Hosts = s.joinHosts(all)
	sum.Kernel += fmt.Sprintf(" in %d guests with one clock", len(all))
	if !s.claims.Pinned() {
		sum.Kernel += ", which had no processors of their own"
	}
	return sum
}

// joinHosts lists the hosts of all guests in the topology's order. Each is one guest's.
func (s *several) joinHosts(all []*emu.Facts) (list []emu.HostFacts) {
	hosts := map[string]emu.HostFacts{}
	for _, f := range all {
		for _, h := range f.Hosts {
			hosts[h.Name] = h
		}
	}
	for _, h := range s.topology.Hosts {
		if f, ok := hosts[s.topology.HostName(h)]; ok {
			list = append(list, f)
		}
	}
	return list
}

// joinPorts adds the ports of a guest to those of the guests before it. Each guest has all
// ports in its list: what it counts of its own nodes' is all there is, and it counts what wires
// that end in it have lost or repeated, of others' ports too.
func (s *several) joinPorts(sum, ports []emu.PortFacts, guest int) {
	for i := range min(len(sum), len(ports)) {
		lost, extra := sum[i].Lost+ports[i].Lost, sum[i].Extra+ports[i].Extra
		if s.guests[s.topology.Ports[i].Node] == guest {
			sum[i] = ports[i]
		}
		sum[i].Lost, sum[i].Extra = lost, extra
	}
}

// worse is the lateness of two guests' loops, by the worse of both in each figure.
func worse(a, b emu.Lateness) emu.Lateness {
	return emu.Lateness{Count: a.Count + b.Count, Median: max(a.Median, b.Median), P99: max(a.P99, b.P99),
		P999: max(a.P999, b.P999), Max: max(a.Max, b.Max)}
}

// mergeQueues makes one log of the guests' logs of queues.
func (s *several) mergeQueues(dir emu.RunDir) error { return MergeQueues(dir, len(s.parts)) }

// MergeQueues makes one log of the logs of queues that so many guests have left in a run's
// directory, if that has not been done: a run that was killed did not. Each guest samples its
// switches at the same times; of a last sample that not all have taken nothing is taken.
func MergeQueues(dir emu.RunDir, guests int) error {
	var logs []*queueLog
	defer func() {
		for _, l := range logs {
			l.close()
		}
	}()
	for i := range guests {
		file, err := dir.Open(parts.File(i, emu.QueueLog))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // nothing was sampled, not by all, or it is merged
		}
		if err != nil {
			return err
		}
		logs = append(logs, openQueueLog(file))
	}
	if len(logs) < 2 {
		return nil
	}
	err := dir.Write(emu.QueueLog, func(file *os.File) error { return joinQueues(logs, file) })
	for i := 1; i < guests && err == nil; i++ {
		err = dir.Remove(parts.File(i, emu.QueueLog))
	}
	if err != nil {
		return fmt.Errorf("merging the guests' logs of queues: %w", err)
	}
	return nil
}

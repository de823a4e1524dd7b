//go:build linux

package port

import (
	"fmt"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// markerMap describes the ports' entries. The kernel finds the spin lock by the
// value's type information, in which the rest may be one array.
func markerMap(n int) *ebpf.MapSpec {
	size := uint32(unsafe.Sizeof(markerState{}))
	word := &btf.Int{Name: "unsigned int", Size: 4, Encoding: btf.Unsigned}
	lock := &btf.Struct{Name: "bpf_spin_lock", Size: 4, Members: []btf.Member{{Name: "val", Type: word}}}
	rest := &btf.Array{Index: word, Type: word, Nelems: size/4 - 1}
	return &ebpf.MapSpec{
		Name: "sirdbed_ports", Type: ebpf.Array, KeySize: 4, ValueSize: size, MaxEntries: uint32(n),
		Key: word,
		Value: &btf.Struct{Name: "port_state", Size: size, Members: []btf.Member{
			{Name: "lock", Type: lock},
			{Name: "rest", Type: rest, Offset: 32},
		}},
	}
}

// Offsets into markerState.
const (
	offLock       = int16(unsafe.Offsetof(markerState{}.Lock))
	offLast       = int16(unsafe.Offsetof(markerState{}.Last))
	offSpare      = int16(unsafe.Offsetof(markerState{}.Spare))
	offQueue      = int16(unsafe.Offsetof(markerState{}.Queue))
	offPerByte    = int16(unsafe.Offsetof(markerState{}.PerByte))
	offBurst      = int16(unsafe.Offsetof(markerState{}.Burst))
	offThreshold  = int16(unsafe.Offsetof(markerState{}.Threshold))
	offTop        = int16(unsafe.Offsetof(markerState{}.Top))
	offCreditMask = int16(unsafe.Offsetof(markerState{}.CreditMask))
	offShift      = int16(unsafe.Offsetof(markerState{}.BucketShift))
	offPackets    = int16(unsafe.Offsetof(markerState{}.Packets))
	offMarked     = int16(unsafe.Offsetof(markerState{}.Marked))
	offMax        = int16(unsafe.Offsetof(markerState{}.Max))
	offHistogram  = int16(unsafe.Offsetof(markerState{}.Histogram))
)

// Of struct __sk_buff (include/uapi/linux/bpf.h), the Ethernet and the IPv4
// header.
const (
	skbLen     = 0
	skbIfindex = 40
	etherType  = 12 // then version and IHL, then the TOS octet
	stackFrame = -8 // 4 bytes from etherType on
	stackKey   = -16
	actUnspec  = -1 // TC_ACT_UNSPEC: go on
)

// markerName is what tc and bpftool show.
const markerName = "sirdbed_marker"

// markerProgram is, in outline,
//
//	s = state[skb.ifindex - first]
//	unless skb is IPv4, and no credit: return
//	wire = max(84, skb.len + 24) * s.per_byte
//	lock
//	elapsed = now - s.last
//	for q in s.queue, most urgent first: q, elapsed = q - elapsed, elapsed - q (never below 0)
//	s.spare = min(s.spare + elapsed, s.burst)
//	waiting = sum of s.queue - wire/2
//	s.queue[level], s.spare = s.queue[level] + wire - s.spare, s.spare - wire (never below 0)
//	unlock
//	if waiting >= s.threshold: set CE, if the packet says ECT
//
// What is queued includes the rest of the packet in transmission, which a qdisc
// does not count: half of the arriving packet stands for it. The packet goes on
// in any case.
func markerProgram(state *ebpf.Map, first int) *ebpf.ProgramSpec {
	const ctx, s, now, wire, level = asm.R6, asm.R7, asm.R8, asm.R9, asm.R5
	p := asm.Instructions{
		asm.Mov.Reg(ctx, asm.R1),
		// key
		asm.LoadMem(asm.R2, ctx, skbIfindex, asm.Word),
		asm.Sub.Imm(asm.R2, int32(first)),
		asm.StoreMem(asm.RFP, stackKey, asm.R2, asm.Word),
		asm.LoadMapPtr(asm.R1, state.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackKey),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "next"),
		asm.Mov.Reg(s, asm.R0),
		// EtherType and TOS; the header may lie outside the linear part.
		asm.Mov.Reg(asm.R1, ctx),
		asm.Mov.Imm(asm.R2, etherType),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, stackFrame),
		asm.Mov.Imm(asm.R4, 4),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "next"),
		asm.LoadMem(asm.R1, asm.RFP, stackFrame, asm.Byte),
		asm.JNE.Imm(asm.R1, 0x08, "next"),
		asm.LoadMem(asm.R1, asm.RFP, stackFrame+1, asm.Byte),
		asm.JNE.Imm(asm.R1, 0x00, "next"),
		asm.LoadMem(asm.R1, asm.RFP, stackFrame+3, asm.Byte),
		asm.LoadMem(asm.R2, s, offCreditMask, asm.DWord),
		asm.And.Reg(asm.R2, asm.R1),
		asm.JNE.Imm(asm.R2, 0, "next"),
		// wire time
		asm.LoadMem(wire, ctx, skbLen, asm.Word),
		asm.Add.Imm(wire, int32(wireOverhead)),
		asm.JGE.Imm(wire, int32(wireMinimum), "long"),
		asm.Mov.Imm(wire, int32(wireMinimum)),
		asm.LoadMem(asm.R2, s, offPerByte, asm.DWord).WithSymbol("long"),
		asm.Mul.Reg(wire, asm.R2),
		asm.RSh.Imm(wire, timeShift),
		asm.FnKtimeGetNs.Call(),
		asm.LSh.Imm(asm.R0, timeShift),
		asm.Mov.Reg(now, asm.R0),
		asm.Mov.Reg(asm.R1, s),
		asm.Add.Imm(asm.R1, int32(offLock)),
		asm.FnSpinLock.Call(),
		asm.Mov.Imm(asm.R4, 0), // the queues' sum
		// elapsed in R1; another CPU's clock read may be ahead of ours
		asm.Mov.Imm(asm.R1, 0),
		asm.LoadMem(asm.R2, s, offLast, asm.DWord),
		asm.JGE.Reg(asm.R2, now, "drain7"),
		asm.Mov.Reg(asm.R1, now),
		asm.Sub.Reg(asm.R1, asm.R2),
		asm.StoreMem(s, offLast, now, asm.DWord),
	}
	for l := MaxPriorities - 1; l >= 0; l-- {
		p = append(p, drain(s, l)...)
	}
	p = append(p,
		asm.LoadMem(asm.R2, s, offSpare, asm.DWord),
		asm.Add.Reg(asm.R2, asm.R1),
		asm.LoadMem(asm.R3, s, offBurst, asm.DWord),
		asm.JLE.Reg(asm.R2, asm.R3, "spare"),
		asm.Mov.Reg(asm.R2, asm.R3),
		// R2 is spare; level from the precedence
		asm.LoadMem(level, asm.RFP, stackFrame+3, asm.Byte).WithSymbol("spare"),
		asm.RSh.Imm(level, 5),
		asm.LoadMem(asm.R3, s, offTop, asm.DWord),
		asm.JLE.Reg(level, asm.R3, "level"),
		asm.Mov.Reg(level, asm.R3),
		asm.And.Imm(level, MaxPriorities-1).WithSymbol("level"),
		asm.LSh.Imm(level, 3),
		asm.Add.Reg(level, s), // now the level's queue, less offQueue
		// waiting in R8 (the time is not needed any more)
		asm.LoadMem(asm.R3, level, offQueue, asm.DWord),
		asm.Mov.Reg(asm.R0, wire),
		asm.RSh.Imm(asm.R0, 1),
		asm.Mov.Imm(asm.R8, 0),
		asm.JLE.Reg(asm.R4, asm.R0, "waiting"),
		asm.Mov.Reg(asm.R8, asm.R4),
		asm.Sub.Reg(asm.R8, asm.R0),
		// the packet itself: tokens first, then the queue
		asm.JGE.Reg(asm.R2, wire, "free").WithSymbol("waiting"),
		asm.Add.Reg(asm.R3, wire),
		asm.Sub.Reg(asm.R3, asm.R2),
		asm.StoreMem(level, offQueue, asm.R3, asm.DWord),
		asm.Mov.Imm(asm.R2, 0),
		asm.Ja.Label("counted"),
		asm.Sub.Reg(asm.R2, wire).WithSymbol("free"),
		asm.StoreMem(s, offSpare, asm.R2, asm.DWord).WithSymbol("counted"),
		// statistics
		asm.LoadMem(asm.R2, s, offPackets, asm.DWord),
		asm.Add.Imm(asm.R2, 1),
		asm.StoreMem(s, offPackets, asm.R2, asm.DWord),
		asm.LoadMem(asm.R2, s, offMax, asm.DWord),
		asm.JGE.Reg(asm.R2, asm.R8, "bucket"),
		asm.StoreMem(s, offMax, asm.R8, asm.DWord),
		asm.Mov.Reg(asm.R2, asm.R8).WithSymbol("bucket"),
		asm.LoadMem(asm.R3, s, offShift, asm.DWord),
		asm.RSh.Reg(asm.R2, asm.R3),
		asm.JLT.Imm(asm.R2, histogramBuckets, "inside"),
		asm.Mov.Imm(asm.R2, histogramBuckets-1),
		asm.And.Imm(asm.R2, histogramBuckets-1).WithSymbol("inside"),
		asm.LSh.Imm(asm.R2, 3),
		asm.Add.Reg(asm.R2, s),
		asm.LoadMem(asm.R3, asm.R2, offHistogram, asm.DWord),
		asm.Add.Imm(asm.R3, 1),
		asm.StoreMem(asm.R2, offHistogram, asm.R3, asm.DWord),
		asm.LoadMem(asm.R9, s, offThreshold, asm.DWord),
		asm.Mov.Reg(asm.R1, s),
		asm.Add.Imm(asm.R1, int32(offLock)),
		asm.FnSpinUnlock.Call(),
		// mark
		asm.JLT.Reg(asm.R8, asm.R9, "next"),
		asm.Mov.Reg(asm.R1, ctx),
		asm.FnSkbEcnSetCe.Call(),
		asm.JNE.Imm(asm.R0, 1, "next"),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(s, asm.R1, asm.DWord, offMarked),
		asm.Mov.Imm(asm.R0, actUnspec).WithSymbol("next"),
		asm.Return(),
	)
	return &ebpf.ProgramSpec{Name: markerName, Type: ebpf.SchedCLS, Instructions: p, License: "GPL"}
}

// drain takes the time in R1 off one level's queue, and what was in that queue
// off R1. It adds what is left in the queue to R4.
func drain(s asm.Register, level int) asm.Instructions {
	queue := offQueue + int16(8*level)
	begin, part, done := fmt.Sprint("drain", level), fmt.Sprint("part", level), fmt.Sprint("done", level)
	return asm.Instructions{
		asm.LoadMem(asm.R2, s, queue, asm.DWord).WithSymbol(begin),
		asm.JGE.Reg(asm.R2, asm.R1, part),
		asm.Mov.Reg(asm.R3, asm.R2), // all of it
		asm.Ja.Label(done),
		asm.Mov.Reg(asm.R3, asm.R1).WithSymbol(part),
		asm.Sub.Reg(asm.R2, asm.R3).WithSymbol(done),
		asm.Sub.Reg(asm.R1, asm.R3),
		asm.StoreMem(s, queue, asm.R2, asm.DWord),
		asm.Add.Reg(asm.R4, asm.R2),
	}
}

// Package emu is the contract between a scenario and whatever runs it: an
// Experiment goes in, a directory of raw logs (RunDir) and Facts come out of an
// Engine.
//
// # Who knows the dilation
//
// Everything speaks nominal time. How far the kernel's clock is stretched
// (units.Dilation, a whole number) is known to these alone:
//
//   - scenarios and Experiment.Dilation: what is asked for, if a run of it ends
//     within limit.MaxKernelTime;
//   - emu/real and emu/virtual, which choose it where nothing is asked for (see
//     KernelTCPDilation), and hand it on; a guest's controller reports less often
//     the longer its run takes;
//   - emu/fabric: the rates of ports and wires are divided by it, delays are
//     multiplied;
//   - sirdnode/clock: the clock of a host process (by node.Config), of the
//     queue sampler and of captures;
//   - Facts.Dilation, for the verdict (the timers of kernel TCP are not
//     stretched, and a port's burst is a time of the kernel's clock) and for
//     people.
//
// The model has none: its Facts say 1.
package emu

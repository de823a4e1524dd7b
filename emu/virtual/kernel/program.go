//go:build linux

package kernel

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
)

// program returns why a file is no program that a guest's kernel could be: one of this
// program's own architecture, which it runs in the guest, or a script that starts one.
// Only its headers are looked at.
func program(file *os.File) error {
	var first [2]byte
	if _, err := file.ReadAt(first[:], 0); err == nil && string(first[:]) == "#!" {
		return nil
	}
	f, err := elf.NewFile(file)
	if err != nil {
		return fmt.Errorf("%s is no program, or not all of one: %w", file.Name(), err)
	}
	own, err := elf.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer own.Close()
	switch {
	case f.Class != own.Class || f.Machine != own.Machine:
		return fmt.Errorf("%s is for another machine: %v, %v, want %v, %v", file.Name(), f.Machine, f.Class,
			own.Machine, own.Class)
	case !executableType(f):
		return fmt.Errorf("%s is no program: its type is %v, want %v", file.Name(), f.Type, elf.ET_EXEC)
	}
	return whole(file, f)
}

// executableType reports whether a file is to be executed; libraries are not, which have
// the type of programs that can lie anywhere.
func executableType(f *elf.File) bool {
	if f.Type != elf.ET_DYN {
		return f.Type == elf.ET_EXEC
	}
	flags, err := f.DynValue(elf.DT_FLAGS_1)
	return err == nil && len(flags) > 0 && elf.DynFlag1(flags[0])&elf.DF_1_PIE != 0
}

// whole returns an error for a file without something to load, or with less than it says.
func whole(file *os.File, f *elf.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	loads := false
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		loads = true
		if p.Off > uint64(info.Size()) || p.Filesz > uint64(info.Size())-p.Off {
			return fmt.Errorf("%s is cut off after %d bytes", file.Name(), info.Size())
		}
	}
	if !loads {
		return errors.New(file.Name() + " is no program: it has nothing to load")
	}
	return nil
}

//go:build !portable

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/emu/virtual/guest"
	"sirdbed/emu/virtual/kernel"
)

func newKernel() *cobra.Command {
	c := &cobra.Command{
		Use:   "kernel",
		Short: "Build, show or remove the virtual engine's kernel",
		Long: text(`
			The virtual engine runs everything inside a User-Mode Linux: Linux compiled as an ordinary program, with a
			clock that moves only while everything sleeps. That kernel is built once, from the distribution's source
			package, and kept in the user's cache directory. Neither building nor running it needs root.`),
		Example: examples(`
			sudo apt-get install linux-source-6.12 gcc libc6-dev make flex bison bc xz-utils patch
			sirdbed kernel build
			sirdbed run incast --engine virtual`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return leaveRoot("the guest's kernel", "")
		},
	}
	c.AddCommand(newKernelBuild(), newKernelStatus(), newKernelRemove(), newKernelExec())
	return c
}

func newKernelBuild() *cobra.Command {
	var o kernel.Options
	c := &cobra.Command{
		Use:   "build",
		Short: "Build the kernel, boot it to see that it works, and keep it",
		Long: text(`
			Unpack the source, apply the project's patch and configuration (emu/virtual/kernel), compile on all
			processors, boot the result, and put it into the cache. This takes 3 to 6 minutes on two processors and does
			nothing if the kernel is already there. An interrupted build resumes where it stopped.

			It needs ` + kernel.Needs() + `.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return buildKernel(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.Source, "source", "",
		"build from the tarball `FILE` of Linux (default: the distribution's, in /usr/src)")
	f.BoolVar(&o.Force, "force", false, "build even if the kernel is there")
	completeFlag(c, "source", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []cobra.Completion{"tar.xz", "tar.bz2", "tar.gz"}, cobra.ShellCompDirectiveFilterFileExt
	})
	return c
}

// buildKernel builds the guest kernel and prints what is in the cache then.
func buildKernel(ctx context.Context, o kernel.Options, stdout, stderr io.Writer) error {
	cache, err := kernelCache()
	if err != nil {
		return err
	}
	shown := newBuildProgress(stderr)
	o.Step, o.Compiled = shown.step, shown.compiled
	o.Verify = func(path string) error { return bootOnce(ctx, path, path) }
	built, fresh, err := cache.Build(ctx, o)
	shown.end()
	if errors.Is(err, context.Canceled) {
		left := "nothing is left of it"
		if cache.Unfinished() {
			left = "the next build goes on from here, and sirdbed kernel remove clears it away"
		}
		fmt.Fprintln(stderr, "interrupted: "+left)
		return &codedError{exitStopped, errReported}
	}
	if err != nil {
		return err
	}
	already := ""
	if !fresh {
		already = "there already: "
	}
	_, err = fmt.Fprintf(stdout, "%s%v\n%s\n", already, built, built.Path)
	return err
}

// bootOnce boots a kernel, which errors call name, and runs this program in it.
func bootOnce(ctx context.Context, path, name string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	exit, err := guest.Run(ctx, guest.Config{
		Kernel: path, KernelName: name,
		Argv: []string{"/proc/self/exe", "version"}, Memory: 256 << 20,
	})
	if err == nil && exit != 0 {
		err = fmt.Errorf("a command in the guest ended with exit code %d", exit)
	}
	return err
}

func newKernelStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show which kernels are in the cache, and try the one in use",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cache, err := kernelCache()
			if err != nil {
				return err
			}
			list, err := cache.List()
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			for _, b := range list {
				use := "in use"
				if !b.Current {
					use = "of another version of sirdbed, unused"
				}
				fmt.Fprintf(out, "%v, %s\n%s\n", b, use, b.Path)
			}
			if cache.Unfinished() {
				fmt.Fprintf(out, "a build was interrupted, or is under way; its log: %s\n", cache.Log())
			}
			opened, err := openKernel()
			if err != nil {
				return err
			}
			defer opened.Close()
			started := time.Now()
			err = bootOnce(c.Context(), fmt.Sprintf("/proc/self/fd/%d", opened.Fd()), kernelName(opened))
			if err != nil {
				return fmt.Errorf("the kernel does not work here: %w", err)
			}
			fmt.Fprintf(out, "it works: booted, ran a command and ended in %.1f s\n", time.Since(started).Seconds())
			return nil
		},
	}
}

func newKernelRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove",
		Short: "Remove all kernels, and what interrupted builds left, from the cache",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cache, err := kernelCache()
			if err != nil {
				return err
			}
			something, err := cache.Remove()
			if err != nil {
				return err
			}
			if !something {
				fmt.Fprintf(c.OutOrStdout(), "there is nothing to remove: no %s\n", cache)
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "removed %s\n", cache)
			return nil
		},
	}
}

// newKernelExec runs a command in a guest, mostly tests.
func newKernelExec() *cobra.Command {
	var memory int64
	c := &cobra.Command{
		Use:    "exec COMMAND [ARGUMENT]...",
		Short:  "Run a command in a guest, as its root",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opened, err := openKernel()
			if err != nil {
				return err
			}
			defer opened.Close()
			if args[0], err = exec.LookPath(args[0]); err != nil {
				return badInput(err)
			}
			if args[0], err = filepath.Abs(args[0]); err != nil {
				return err
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			exit, err := guest.Run(c.Context(), guest.Config{
				Kernel: fmt.Sprintf("/proc/self/fd/%d", opened.Fd()), KernelName: kernelName(opened),
				Argv: args, Dir: dir, Show: []string{"/"}, Memory: memory << 20,
				Env:  append(os.Environ(), "TMPDIR=/run/tmp", "HOME=/run"),
				Line: func(line string) { fmt.Fprintln(c.OutOrStdout(), line) },
			})
			if err == nil && exit != 0 {
				err = &codedError{exit, errReported}
			}
			return err
		},
	}
	c.Flags().Int64Var(&memory, "memory", 1024, "let the guest use `MB` of memory")
	c.Flags().SetInterspersed(false)
	return c
}

// Command copier copies files from a program in one host to one in another, over the
// transport of a run, and checks what arrives by its SHA-256: an example of package
// message.
//
//	sirdbed exec h1-2 ./copier receive DIR
//	sirdbed exec h1-1 ./copier send h1-2 FILE-OR-DIR...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// service is where the receiver listens.
const service = 20

const usage = `usage: copier receive DIR [FILES]         until FILES files have arrived, or for ever
       copier send HOST FILE-OR-DIR...   exits with 0 when all have arrived intact`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "copier:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "receive":
		return receive(ctx, args[1], 0)
	case len(args) == 3 && args[0] == "receive":
		files, err := strconv.Atoi(args[2])
		if err != nil || files < 1 {
			return fmt.Errorf("%q: want how many files are to arrive", args[2])
		}
		return receive(ctx, args[1], files)
	case len(args) >= 3 && args[0] == "send":
		return send(ctx, args[1], args[2:])
	}
	return errors.New(usage)
}

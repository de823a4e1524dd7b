// Command rpcping measures round trips between programs over the transport of a run: an
// example of package message.
//
//	sirdbed exec h1-2 ./rpcping serve
//	sirdbed exec h1-1 ./rpcping h1-2
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"sirdbed/sirdnode/message"
)

// service is where the server listens.
const service = 7

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rpcping:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("rpcping", flag.ContinueOnError)
	count := flags.Int("n", 10, "how many requests to send")
	size := flags.Int("size", 8, "bytes of a request and of its reply")
	interval := flags.Duration("interval", 100*time.Millisecond, "time from one request to the next")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: rpcping serve\n       rpcping [-n N] [-size BYTES] [-interval TIME] HOST")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() != 1:
		flags.Usage()
		return errors.New("want serve, or one host")
	case flags.Arg(0) == "serve":
		return serve(ctx)
	}
	return ping(ctx, flags.Arg(0), *count, *size, *interval)
}

// serve returns to everyone what they have sent.
func serve(ctx context.Context) error {
	l, err := message.Listen(ctx, "", service)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Println("ready")
	err = l.Serve(ctx, func(_ context.Context, m *message.Message) []byte { return m.Data })
	if ctx.Err() != nil || errors.Is(err, message.ErrEnded) {
		return nil
	}
	return err
}

func ping(ctx context.Context, host string, count, size int, interval time.Duration) error {
	conn, err := message.Dial(ctx, "")
	if err != nil {
		return err
	}
	defer conn.Close()
	var times []time.Duration
	for i := range count {
		if i > 0 {
			time.Sleep(interval)
		}
		since := time.Now()
		reply, err := conn.Call(ctx, host, service, make([]byte, size))
		took := time.Since(since)
		if err != nil {
			return err
		}
		fmt.Printf("%d bytes from %s: %v\n", len(reply), host, took)
		times = append(times, took)
	}
	if len(times) > 0 {
		slices.Sort(times)
		fmt.Printf("%d round trips: least %v, median %v, most %v\n", len(times), times[0], times[len(times)/2],
			times[len(times)-1])
	}
	return nil
}

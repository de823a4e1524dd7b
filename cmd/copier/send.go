package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"sirdbed/sirdnode/message"
)

// atOnce is how many files are on their way at once.
const atOnce = 8

// A file is one to be sent: where it is, and what it is called there.
type file struct{ path, name string }

// send copies files, and what is in directories, to a host.
func send(ctx context.Context, host string, paths []string) error {
	files, err := list(paths)
	if err != nil {
		return err
	}
	conn, err := message.Dial(ctx, "")
	if err != nil {
		return err
	}
	defer conn.Close()
	work := make(chan file)
	failed := make(chan error, atOnce)
	var workers sync.WaitGroup
	var bytes atomic.Int64
	for range atOnce {
		workers.Go(func() {
			for f := range work {
				if err := sendFile(ctx, conn, host, f, &bytes); err != nil {
					failed <- fmt.Errorf("%s: %w", f.path, err)
					return
				}
			}
		})
	}
	for _, f := range files {
		select {
		case work <- f:
			continue
		case err = <-failed:
		}
		break
	}
	close(work)
	workers.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	if err == nil {
		fmt.Printf("%d files, %d bytes, all intact at %s\n", len(files), bytes.Load(), host)
	}
	return err
}

// list lists files, and what is in directories, by names below these.
func list(paths []string) (files []file, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(path, at)
			if name == "." {
				name = filepath.Base(path)
			}
			files = append(files, file{at, filepath.ToSlash(name)})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// sendFile sends a file block by block, the next when the last has been written there.
func sendFile(ctx context.Context, conn *message.Conn, host string, f file, sent *atomic.Int64) error {
	in, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, in)
	if err != nil {
		return err
	}
	b := block{Name: f.name, Size: size, SHA256: hash.Sum(nil), bytes: make([]byte, min(size, blockSize))}
	for {
		b.bytes = b.bytes[:min(int64(len(b.bytes)), size-b.Offset)]
		if _, err := in.ReadAt(b.bytes, b.Offset); err != nil {
			return err
		}
		request, err := b.encode()
		if err != nil {
			return err
		}
		answer, err := conn.Call(ctx, host, service, request)
		if err != nil {
			return err
		}
		if len(answer) > 0 {
			return fmt.Errorf("%s: %s", host, answer)
		}
		sent.Add(int64(len(b.bytes)))
		if b.Offset += int64(len(b.bytes)); b.Offset == size {
			return nil
		}
	}
}

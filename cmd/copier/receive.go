package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sync"

	"sirdbed/sirdnode/message"
)

// A receiver writes files that arrive block by block, each under another name until it is
// whole and its SHA-256 is right.
type receiver struct {
	root *os.Root

	mu      sync.Mutex
	partial map[string]*partial // by host and name
	files   int                 // that have arrived
	bytes   int64
	wanted  int // files after which it ends, 0: never
	enough  context.CancelFunc
}

// A partial is a file of which blocks are still to come.
type partial struct {
	file *os.File
	name string
	left int64 // bytes
}

// receive writes what arrives below dir, until as many files are there as wanted.
func receive(ctx context.Context, dir string, wanted int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	l, err := message.Listen(ctx, "", service)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	r := &receiver{root: root, partial: map[string]*partial{}, wanted: wanted, enough: enough}
	fmt.Println("ready")
	err = l.Serve(ctx, r.handle)
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Printf("%d files, %d bytes, all intact\n", r.files, r.bytes)
	if ctx.Err() != nil {
		err = nil
	}
	if r.files < r.wanted {
		err = errors.Join(err, fmt.Errorf("%d files did not arrive", r.wanted-r.files))
	}
	return err
}

// handle takes one block. It returns what went wrong, or nothing.
func (r *receiver) handle(ctx context.Context, m *message.Message) []byte {
	b, err := decode(m.Data)
	whole := false
	if err == nil {
		whole, err = r.write(m.From, &b)
	}
	answer := []byte(nil)
	if err != nil {
		answer = []byte(err.Error())
	}
	// The sender is to know before the last file ends this program.
	if e := m.Reply(context.WithoutCancel(ctx), answer); e != nil {
		fmt.Fprintln(os.Stderr, "copier:", e)
	}
	if whole {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.files++
		r.bytes += b.Size
		if r.files == r.wanted {
			r.enough()
		}
	}
	return nil
}

// write writes a block, and reports whether its file is whole now, and right.
func (r *receiver) write(from string, b *block) (whole bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := from + "\x00" + b.Name
	p := r.partial[key]
	if p == nil {
		if p, err = r.begin(from, b); err != nil {
			return false, err
		}
		r.partial[key] = p
	}
	_, err = p.file.WriteAt(b.bytes, b.Offset)
	if p.left -= int64(len(b.bytes)); p.left > 0 && err == nil {
		return false, nil
	}
	delete(r.partial, key)
	defer p.file.Close()
	hash := sha256.New()
	if err == nil {
		_, err = io.Copy(hash, io.NewSectionReader(p.file, 0, b.Size))
	}
	if err == nil && !bytes.Equal(hash.Sum(nil), b.SHA256) {
		err = fmt.Errorf("%s: its SHA-256 is %x, not %x", b.Name, hash.Sum(nil), b.SHA256)
	}
	if err == nil {
		err = r.root.Rename(p.name, b.Name)
	}
	if err != nil {
		_ = r.root.Remove(p.name) // what went wrong is known
	}
	return err == nil, err
}

func (r *receiver) begin(from string, b *block) (*partial, error) {
	if dir := path.Dir(b.Name); dir != "." {
		if err := r.root.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	p := &partial{name: b.Name + ".from-" + from, left: b.Size}
	var err error
	p.file, err = r.root.OpenFile(p.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	return p, err
}

package message

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"sirdbed/sirdnode/message/frame"
)

// A link is a connection with the host's process.
type link struct {
	conn    net.Conn
	in      *bufio.Reader
	self    string
	names   []string
	numbers map[string]uint16
	longest int

	writing chan struct{} // has room for whoever writes

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan<- result // room for one each
	err     error                    // why it ended
	ended   chan struct{}
}

// A result is what became of something that was written.
type result struct {
	err    error
	reason string
	data   []byte
}

// dial connects, and waits for the host's first words: it begins at nominal time 0.
func dial(ctx context.Context, address string) (*link, error) {
	address = cmp.Or(address, os.Getenv(frame.AddressVar), frame.Address)
	conn, err := new(net.Dialer).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; start the program in a host of a fabric (sirdbed exec, or apps in a scenario) "+
			"whose protocol is none of the kernel's", ErrNoTransport, err)
	}
	l := &link{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), writing: make(chan struct{}, 1),
		waiting: map[uint32]chan<- result{}, ended: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err = l.welcome()
	if !stop() {
		err = cmp.Or(ctx.Err(), err)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %s: %w", ErrNoTransport, address, err)
	}
	return l, nil
}

// maxWelcome is the most that names of hosts take.
const maxWelcome = 4 << 20

func (l *link) welcome() error {
	h, data, err := l.read(maxWelcome)
	switch {
	case err == io.EOF:
		return errors.New("it has as many connections as it may, or ended")
	case err != nil:
		return err
	case h.Kind != frame.Welcome || h.Service != frame.Version:
		return fmt.Errorf("it speaks another version: frame %d, version %d, not %d", h.Kind, h.Service, frame.Version)
	}
	l.names = strings.Split(string(data), "\n")
	if int(h.Host) >= len(l.names) {
		return fmt.Errorf("%w: host %d of %d", ErrMalformed, h.Host, len(l.names))
	}
	l.self, l.longest = l.names[h.Host], int(h.ID)
	l.numbers = make(map[string]uint16, len(l.names))
	for i, name := range l.names {
		l.numbers[name] = uint16(i)
	}
	return nil
}

// read reads a frame of the host's, with data of up to a limit.
func (l *link) read(limit int) (h frame.Header, data []byte, err error) {
	var head [frame.HeaderLen]byte
	if _, err = io.ReadFull(l.in, head[:]); err != nil {
		return h, nil, err
	}
	if h, err = frame.FromHost(head[:]); err != nil {
		return h, nil, err
	}
	if int64(h.Length) > int64(limit) {
		return h, nil, fmt.Errorf("%w: %d bytes of data, at most %d", ErrMalformed, h.Length, limit)
	}
	data, err = readData(l.in, int(h.Length))
	return h, data, err
}

// ahead is how many bytes there is room for before they have come: a header's word alone
// takes no more memory.
const ahead = 1 << 20

// readData reads n bytes.
func readData(in io.Reader, n int) (data []byte, err error) {
	data = make([]byte, 0, min(n, ahead))
	for err == nil && len(data) < n {
		data = slices.Grow(data, min(n-len(data), max(len(data), ahead)))
		room := data[len(data):min(cap(data), n)]
		var got int
		got, err = io.ReadFull(in, room)
		data = data[:len(data)+got]
	}
	if err == io.EOF && len(data) > 0 { // in the middle
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// follow reads frames until the connection ends. Messages go to take.
func (l *link) follow(take func(h frame.Header, data []byte)) {
	for {
		h, data, err := l.read(max(l.longest, maxWelcome))
		if err != nil {
			if err == io.EOF || errors.Is(err, net.ErrClosed) {
				err = ErrClosed
			}
			l.end(err)
			return
		}
		switch h.Kind {
		case frame.Farewell:
			l.end(fmt.Errorf("%w: %s", codeError(h.Code), data))
			return
		case frame.Answer:
			l.settle(h.ID, result{data: data})
		case frame.Result, frame.Replied:
			l.settle(h.ID, result{err: codeError(h.Code), reason: string(data)})
		default:
			if take != nil {
				take(h, data)
			}
		}
	}
}

// end ends the connection, and all that waits for it.
func (l *link) end(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = why
	l.conn.Close()
	close(l.ended)
	for id, to := range l.waiting {
		delete(l.waiting, id)
		to <- result{err: why}
	}
}

// await returns an id that nothing waits for and has its result go to a channel.
func (l *link) await(to chan<- result) (id uint32, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	for l.last++; l.waiting[l.last] != nil; l.last++ {
	}
	l.waiting[l.last] = to
	return l.last, nil
}

// awaitAs is await for an id that the host has chosen.
func (l *link) awaitAs(id uint32, to chan<- result) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.waiting[id] = to
	}
	return l.err
}

// forget has nothing wait for an id any more.
func (l *link) forget(id uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
}

func (l *link) settle(id uint32, r result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to := l.waiting[id]; to != nil {
		delete(l.waiting, id)
		to <- r
	}
}

// reason is why the connection ended.
func (l *link) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

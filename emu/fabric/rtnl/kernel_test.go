//go:build linux

package rtnl

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// kernel is the other end of a Conn: it answers what a test has it answer.
type kernel struct {
	t  *testing.T
	fd int
}

func fakeKernel(t *testing.T) (*Conn, *kernel) {
	t.Helper()
	// Such sockets keep messages apart, as netlink does, and ignore addresses.
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &Conn{fd: fds[0]}
	t.Cleanup(func() { c.Close(); unix.Close(fds[1]) })
	return c, &kernel{t, fds[1]}
}

// message is a netlink message.
func message(typ uint16, seq uint32, body ...byte) []byte {
	b := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+len(body))
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)+len(body)))
	binary.NativeEndian.PutUint16(b[4:], typ)
	binary.NativeEndian.PutUint32(b[8:], seq)
	b = append(b, body...)
	return append(b, make([]byte, align(len(b))-len(b))...)
}

// failed is the body of the answer to a request that failed, with words.
func failed(errno unix.Errno, reason string) []byte {
	var b Batch
	b.String(nlmsgerrAttrMsg, reason)
	body := binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno)))
	return append(append(body, make([]byte, unix.SizeofNlMsghdr)...), b.buf...)
}

func (k *kernel) answer(messages ...[]byte) {
	k.t.Helper()
	if _, err := unix.Write(k.fd, slices.Concat(messages...)); err != nil {
		k.t.Fatal(err)
	}
}

var noError = make([]byte, 4)

// A batch is over when its last request is answered; the first failure counts,
// and answers to others than its requests do not.
func TestAnswersToABatch(t *testing.T) {
	const ack = unix.NLMSG_ERROR
	for _, c := range []struct {
		name    string
		answers [][]byte
		want    string // "" for no error
	}{
		{"well", [][]byte{message(ack, 3, noError...)}, ""},
		{"after an answer to an earlier batch", [][]byte{message(ack, 0, failed(unix.EPERM, "old")...),
			message(ack, 3, noError...)}, ""},
		{"the second fails", [][]byte{message(ack, 2, failed(unix.EEXIST, "is there")...), message(ack, 3, noError...)},
			"second at b: file exists (is there)"},
		{"two fail", [][]byte{message(ack, 1, failed(unix.EBUSY, "")...), message(ack, 3, failed(unix.EPERM, "")...)},
			"first at a: device or resource busy"},
		{"too short to be one", [][]byte{message(ack, 3, noError...)[:10], message(ack, 3, noError...)}, ""},
		{"the answer has no errno", [][]byte{message(ack, 3)}, "third: bad message"},
		{"the answer is longer than it says", [][]byte{append([]byte{99, 0, 0, 0}, make([]byte, 12)...)},
			"netlink message of 99 bytes in 16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, k := fakeKernel(t)
			var b Batch
			b.Request("first", "a", unix.RTM_NEWLINK, 0, Link(1, 0, 0))
			b.Request("second", "b", unix.RTM_NEWLINK, 0, Link(1, 0, 0))
			b.Request("third", "", unix.RTM_NEWLINK, 0, Link(1, 0, 0))
			for _, a := range c.answers {
				k.answer(a)
			}
			err := conn.Do(&b)
			if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("got %v, want %q (none if empty)", err, c.want)
			}
		})
	}
}

// A dump hands over the objects of its own request, to its end; it fails as the
// kernel does, which may be at its end.
func TestDumps(t *testing.T) {
	object := func(seq uint32, n byte) []byte { return message(unix.RTM_NEWLINK, seq, n) }
	refusal := errors.New("refused")
	for _, c := range []struct {
		name    string
		answers [][]byte
		each    error
		objects string
		want    string
	}{
		{"in two parts", [][]byte{append(object(1, 'a'), object(1, 'b')...),
			append(object(1, 'c'), message(unix.NLMSG_DONE, 1, noError...)...)}, nil, "abc", ""},
		{"among others", [][]byte{object(7, 'x'), append(object(1, 'a'), message(unix.NLMSG_DONE, 1, noError...)...)},
			nil, "a", ""},
		{"refused", [][]byte{message(unix.NLMSG_ERROR, 1, failed(unix.EINVAL, "no such table")...)}, nil, "",
			"dump: invalid argument (no such table)"},
		{"broken off", [][]byte{object(1, 'a'), message(unix.NLMSG_DONE, 1, failed(unix.ENOMEM, "")[:4]...)}, nil, "a",
			"dump: cannot allocate memory"},
		{"not taken", [][]byte{object(1, 'a'), object(1, 'b'), message(unix.NLMSG_DONE, 1, noError...)}, refusal, "a",
			"refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, k := fakeKernel(t)
			for _, a := range c.answers {
				k.answer(a)
			}
			var got []byte
			err := conn.Dump("dump", unix.RTM_GETLINK, Link(0, 0, 0), func(_ uint16, body []byte) error {
				got = append(got, body[0])
				return c.each
			})
			if string(got) != c.objects || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("got %q and %v, want %q and %q", got, err, c.objects, c.want)
			}
			// Nothing is left of it for the next request.
			if n, _, err := unix.Recvfrom(conn.fd, make([]byte, 64), unix.MSG_DONTWAIT); err != unix.EAGAIN {
				t.Errorf("%d bytes are left (%v), want none", n, err)
			}
		})
	}
}

// A kernel that does not answer is not waited for without end.
func TestKernelWithoutAnswer(t *testing.T) {
	conn, _ := fakeKernel(t)
	tv := unix.Timeval{Usec: 1000}
	if err := unix.SetsockoptTimeval(conn.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		t.Fatal(err)
	}
	var b Batch
	b.Request("add link", "a", unix.RTM_NEWLINK, 0, Link(1, 0, 0))
	err := conn.Do(&b)
	if !errors.Is(err, unix.EAGAIN) || !strings.Contains(err.Error(), "await the answer to add link at a") {
		t.Errorf("got %v, want %v, and for what", err, unix.EAGAIN)
	}
	err = conn.Dump("dump links", unix.RTM_GETLINK, Link(0, 0, 0), func(uint16, []byte) error { return nil })
	if !errors.Is(err, unix.EAGAIN) {
		t.Errorf("got %v, want %v", err, unix.EAGAIN)
	}
}

// An answer that fills the buffer may have been cut.
func TestAnswerLongerThanTheBuffer(t *testing.T) {
	conn, k := fakeKernel(t)
	conn.receive = make([]byte, 64)
	k.answer(make([]byte, 100))
	if _, err := conn.read(); err == nil || !strings.Contains(err.Error(), "longer than the buffer") {
		t.Errorf("got %v, want that it is too long", err)
	}
}

func TestEthtoolNamesTheInterface(t *testing.T) {
	conn, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = conn.Ethtool("no-such-link", unix.ETHTOOL_GTXCSUM, 0)
	if !errors.Is(err, unix.ENODEV) || !strings.Contains(err.Error(), "at no-such-link") {
		t.Errorf("got %v, want %v at no-such-link", err, unix.ENODEV)
	}
}

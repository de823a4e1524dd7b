package wire_test

import (
	"errors"
	"fmt"
	"log"

	"sirdbed/sirdnode/wire"
)

// A frame there and back, and one with a flipped bit.
func ExampleFrame() {
	sent := wire.Frame{
		SrcAddr: [4]byte{10, 0, 1, 1}, DstAddr: [4]byte{10, 0, 1, 2}, Port: 47000, Entropy: 0x1234, Priority: 7,
		ECN: wire.ECT, Header: []byte{0x11, 0, 0, 9}, Payload: []byte("payload"),
	}
	buf := make([]byte, sent.Len())
	sent.Encode(buf)

	headerLen := func([]byte) (int, error) { return 4, nil } // of the transport's header
	var got wire.Frame
	if err := got.Decode(buf, 4, headerLen); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v to port %d: header % x, payload %q\n", got.SrcAddr, got.Port, got.Header, got.Payload)

	buf[len(buf)-1] ^= 1
	fmt.Println(errors.Is(got.Decode(buf, 4, headerLen), wire.ErrChecksum))
	// Output:
	// [10 0 1 1] to port 47000: header 11 00 00 09, payload "payload"
	// true
}

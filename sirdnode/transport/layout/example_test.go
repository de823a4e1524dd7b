package layout_test

import (
	"fmt"

	"sirdbed/sirdnode/transport/layout"
)

// A protocol with two types of packet: DATA with 16 bytes of header, ACK with 8.
func ExampleHeaders() {
	const version, data, ack = 1, 1, 2
	headers := layout.Headers{Version: version, Lengths: [16]int{data: 16, ack: 8}}
	fmt.Println(headers.Len([]byte{version<<4 | ack, 0, 0, 0, 0, 0, 0, 0, 'p', 'a', 'd'}))
	fmt.Println(headers.Len([]byte{version<<4 | data, 0, 0}))
	fmt.Println(headers.Len([]byte{2 << 4}))
	fmt.Printf("%+v\n", layout.Framing(16)(1500))
	// Output:
	// 8 <nil>
	// 0 truncated frame
	// 0 transport header of an unknown version
	// {MSS:1.452KB Overhead:48B}
}

package message_test

import (
	"context"
	"fmt"
	"log"

	"sirdbed/sirdnode/message"
)

// A server, in h1-2: it answers each request with what it was sent.
func ExampleListener_Serve() {
	ctx := context.Background()
	l, err := message.Listen(ctx, "", 7)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	err = l.Serve(ctx, func(_ context.Context, m *message.Message) []byte { return m.Data })
	log.Fatal(err)
}

// A client, in h1-1.
func ExampleConn_Call() {
	ctx := context.Background()
	conn, err := message.Dial(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	reply, err := conn.Call(ctx, "h1-2", 7, []byte("hello"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", reply)
}

package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"sirdbed/sirdnode/record"
)

// A log whose writer was stopped before its end is read up to there.
func ExampleRead() {
	var file bytes.Buffer
	w := record.NewWriter(&file)
	w.Put(record.Record{Kind: record.Offered, Peer: 2, ID: 0, At: 1000, N: 8})
	w.Put(record.Record{Kind: record.Acked, Peer: 2, ID: 0, At: 9000})
	if err := w.Flush(); err != nil { // the first error sticks
		log.Fatal(err)
	}
	for r, err := range record.Read(&file) {
		if err != nil {
			fmt.Println("cut:", errors.Is(err, record.ErrCut))
			break
		}
		switch r.Kind {
		case record.Offered:
			fmt.Println("message", r.ID, "to host", r.Peer, "arrived at", r.At)
		case record.Acked:
			fmt.Println("message", r.ID, "was acknowledged at", r.At)
		}
	}
	// Output:
	// message 0 to host 2 arrived at 1us
	// message 0 was acknowledged at 9us
	// cut: true
}

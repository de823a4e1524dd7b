package frame

import (
	"bytes"
	"errors"
	"testing"
)

// What is read as a header is written as it was, and nobody's frames pass for the other's.
func FuzzHeader(f *testing.F) {
	f.Add((&Header{Kind: Send, Host: 3, Service: 7, ID: 9, Length: 100}).Append(nil))
	f.Add((&Header{Kind: Farewell, Code: Ended}).Append(nil))
	f.Add(make([]byte, HeaderLen))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < HeaderLen {
			return
		}
		program, errP := FromProgram(b)
		host, errH := FromHost(b)
		for _, err := range []error{errP, errH} {
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v does not match ErrMalformed", err)
			}
		}
		if errP == nil && errH == nil {
			t.Fatalf("%x is a frame of programs and of hosts", b)
		}
		if errP == nil && !bytes.Equal(program.Append(nil), b[:HeaderLen]) ||
			errH == nil && !bytes.Equal(host.Append(nil), b[:HeaderLen]) {
			t.Errorf("%x is written as another header", b)
		}
	})
}

package virtual

import (
	"fmt"
	"os"
	"testing"

	"sirdbed/emu/virtual/guest"
)

// The test binary is also process 1 of the guests that tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == guest.InitArgument {
		fmt.Println(guest.Init(os.Args[2]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

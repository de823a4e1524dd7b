// Command sirdbed-node is the process of one host of a fabric, and nothing else.
// sirdbed can be that too, and is where sirdbed-node is not beside it, or of other
// source; but libraries that a host never calls fill 8 MB of tables when sirdbed
// starts, which 144 hosts feel: with this a guest of the virtual engine is up in
// half the time.
package main

import (
	"fmt"
	"os"

	"sirdbed/sirdnode"
	"sirdbed/sirdnode/node"
)

func main() {
	// sirdbed asks before it relies on it.
	if len(os.Args) == 2 && os.Args[1] == "source" {
		fmt.Println(sirdnode.Source())
		return
	}
	os.Exit(node.Main())
}

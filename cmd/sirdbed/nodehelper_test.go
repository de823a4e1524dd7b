package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// helperVar makes the test binary a program for the nodes of a fabric: it says what it
// receives, or sends to a node of a name.
const helperVar = "TEST_NODE_ROLE"

// Ports and words of the helper.
const (
	helperPort     = "4711"
	helperServes   = "serves"
	helperGreeting = "greetings"
)

// nodeHelper is what the test binary is in a node, by the role that it has.
func nodeHelper(role string) error {
	what, to, _ := strings.Cut(role, " ")
	switch what {
	case "serve": // one connection after the other, for ever
		listener, err := net.Listen("tcp4", ":"+helperPort)
		if err != nil {
			return err
		}
		fmt.Println(helperServes)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return err
			}
			text, err := io.ReadAll(conn)
			fmt.Printf("%s %v\n", text, err)
			conn.Close()
		}
	case "call":
		conn, err := net.DialTimeout("tcp4", net.JoinHostPort(to, helperPort), 10*time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = io.WriteString(conn, helperGreeting)
		fmt.Println("called", conn.RemoteAddr())
		return err
	}
	return errors.New("no such role")
}

//go:build linux

package join

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"sirdbed/sirdnode/clock"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Build tells programs apart.
type Build struct {
	Checksum string `json:"checksum"` // of the program, in hexadecimal
	Version  string `json:"version"`  // for people
}

func (b Build) String() string {
	return fmt.Sprintf("%s, checksum %s", b.Version, b.Checksum[:min(12, len(b.Checksum))])
}

// About is what a peer says of itself.
type About struct {
	Build Build `json:"build"`
	// Host is the one that it is to be, "" for the only one that nobody is yet.
	Host      string      `json:"host,omitempty"`
	Interface string      `json:"interface"`
	MAC       topo.MAC    `json:"mac"`
	MTU       units.Bytes `json:"mtu"`
	// Policies are those that hosts may have there.
	Policies []clock.Policy `json:"policies,omitempty"`
}

// What both ends say first.
type (
	greeting struct {
		Format string `json:"format"`
		Nonce  string `json:"nonce"`
	}
	hello struct {
		Nonce string `json:"nonce"`
		Proof []byte `json:"proof"`
		About About  `json:"about"`
	}
	welcome struct {
		Error string `json:"error,omitempty"` // then the rest is missing
		Proof []byte `json:"proof,omitempty"`
		Host  string `json:"host,omitempty"`
	}
)

// NewToken returns a token that nobody guesses.
func NewToken() string { return rand.Text() }

// The two sides, as proofs have them.
const (
	runSide  = "run"
	peerSide = "peer"
)

// prove shows that one side has the token, to another that has it too. Nonces are different
// each time, so that an old proof is none.
func prove(token, side, run, peer string) []byte {
	h := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(h, "%s\n%s\n%s\n%s", format, side, run, peer)
	return h.Sum(nil)
}

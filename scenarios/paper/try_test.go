package paper

import (
	"fmt"
	"testing"
)

func TestTry(t *testing.T) {
	list, err := readClaims(claimsYAML)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(len(list), len(Wanted()))
	fs, err := Evaluate(Printed())
	if err != nil {
		t.Fatal(err)
	}
	n := map[ClaimVerdict]int{}
	for _, f := range fs {
		n[f.Verdict]++
		if f.Verdict != NotTestable && len(f.Numbers) > 0 {
			fmt.Println(f.Verdict, f.Claim.ID, f.Numbers)
		}
	}
	fmt.Println(n)
	c, _ := Compare(Printed())
	fmt.Printf("%+v\n", c.Scores)
}

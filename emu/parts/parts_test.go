package parts

import "testing"

func TestFile(t *testing.T) {
	for number, want := range []string{"queues.rec", "queues.1.rec"} {
		if got := File(number, "queues.rec"); got != want {
			t.Errorf("the file of guest %d is %s, want %s", number, got, want)
		}
	}
}

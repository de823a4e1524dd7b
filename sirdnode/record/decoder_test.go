package record

import (
	"slices"
	"testing"
)

// However a log is cut into parts, its records are the same.
func TestDecoderTakesPartsOfAnySize(t *testing.T) {
	whole := encode(t, sample)
	for size := 1; size <= len(whole); size++ {
		var d Decoder
		var got []Record
		for part := range slices.Chunk(whole, size) {
			if err := d.Decode(part, func(r *Record) { got = append(got, *r) }); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, sample) || !d.Whole() {
			t.Fatalf("in parts of %d: %v", size, got)
		}
	}
}

func TestDecoderRefusesWhatIsNoLog(t *testing.T) {
	none := func(*Record) { t.Error("a record") }
	var d Decoder
	if d.Decode([]byte("a text that is long enough"), none) == nil {
		t.Error("a text is taken for a log")
	}
	d = Decoder{}
	if err := d.Decode([]byte(magic), none); err != nil || !d.Whole() {
		t.Fatal(err)
	}
	damaged := make([]byte, recordSize) // of kind 0
	if d.Decode(damaged, none) == nil {
		t.Error("a damaged record is taken")
	}
}

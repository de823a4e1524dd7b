package verdict

import (
	"fmt"
	"strings"

	"sirdbed/capture/results"
)

var cablesLimit = Threshold{
	Of: "carriers and devices lost", Limit: 0, Unit: "losses", Level: results.Invalid,
	Why: "What a port sends into a cable that leads nowhere is lost, which is neither the protocol's doing nor the " +
		"fabric's.",
}

var cables = Check{
	Name: "cables",
	Asks: "Did the cables of devices hold?",
	How: "A host that is a device is at the other end of a cable. Of an opaque one only the port is known: " +
		"unplugged, it just seems silent. So the kernel's counts of lost carriers before and after the run are " +
		"compared (before Linux 4.16 there are none: then only the carrier).",
	Made: Made{"runs with hosts that are devices", func(j *judge) bool {
		return j.v.Facts != nil && len(j.v.Facts.Cables) > 0
	}},
	Thresholds: []Threshold{cablesLimit},
	Do:         "Check that the cable is plugged in, and that the interface at its other end stays up.",
	check:      checkCables,
}

func checkCables(j *judge) {
	var found []string
	lost := 0.0
	for _, c := range j.v.Facts.Cables {
		switch {
		case c.Gone:
			found = append(found, fmt.Sprintf("%s: device %s is gone", c.Host, c.Device))
			lost++
		case c.Losses > 0:
			found = append(found, fmt.Sprintf("%s: lost carriers of device %s: %d", c.Host, c.Device, c.Losses))
			lost += float64(c.Losses)
		}
	}
	if len(found) == 0 {
		found = append(found, fmt.Sprintf("%d held", len(j.v.Facts.Cables)))
	}
	j.add(cablesLimit.level(lost), "none lost", "%s", strings.Join(found, ", "))
}

package report

// The units of gauges that are shown as multiples of them.
const (
	bytesUnit = "B"
	rateUnit  = "B/s"
)

// gaugeUnits are the units of the protocols' gauges. What is not here has none: a
// share, or a protocol's own weight.
var gaugeUnits = map[string]string{
	"credit_available": bytesUnit, "credit_held": bytesUnit, "credit_out": bytesUnit, // SIRD
	"granted_bytes": bytesUnit, "unsent_bytes": bytesUnit, "ready_messages": "messages", // Homa
	"granted_senders": "senders", "waiting_senders": "senders",
	"sender_channels": "channels", "receiver_channels": "channels", // dcPIM
	"tokens_held": "tokens", "tokens_outstanding": "tokens",
	"credit_rate": rateUnit, "w": "", "credit_loss": "", // ExpressPass
	"window": bytesUnit, "in_flight": bytesUnit, "connections_busy": "connections", // window protocols, kernel TCP
	"messages_waiting": "messages", "alpha": "",
	"payload_received": bytesUnit, // every host
}

// GaugeUnit is the unit that a gauge is shown in, "" if it has none or is not
// known, and how many of its own that is.
func GaugeUnit(name string) (unit string, scale float64) {
	switch unit := gaugeUnits[name]; unit {
	case bytesUnit:
		return "KB", 1e3
	case rateUnit:
		return "MB/s", 1e6
	default:
		return unit, 1
	}
}

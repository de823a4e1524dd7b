package sird

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// A Multiple is an amount of credit in units of the BDP. "inf" is allowed.
type Multiple float64

// UnmarshalJSON reads a number, or "inf".
func (m *Multiple) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*m = Multiple(math.Inf(1))
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf(`%s is not a multiple of the BDP: want a number such as 1.5, or "inf"`, b)
	}
	*m = Multiple(f)
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (m Multiple) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(m), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(m))
}

// of returns m times bdp.
func (m Multiple) of(bdp units.Bytes) units.Bytes {
	if v := float64(m) * float64(bdp); v < 1<<62 {
		return units.Bytes(math.Round(v))
	}
	return units.Unlimited
}

// Params are SIRD's parameters (paper, tables 1 and 2; README, Parameters and Paper
// or released code). Defaults are the released simulator's, where it and the paper's
// text differ. Amounts of credit are wire bytes.
type Params struct {
	// Bandwidth-delay product in wire bytes. Default: 100KB for hosts at 100 Gbps, in proportion for others, or the
	// fabric's own if that is larger.
	BDP units.Bytes `json:"bdp"`
	// Global credit bucket of a receiver, in BDP.
	B Multiple `json:"b"`
	// Held credit above which a sender marks its data (csn), in BDP; inf turns sender information off.
	SThr Multiple `json:"sthr"`
	// ECN threshold of marking ports, in BDP.
	NThr Multiple `json:"nthr"`
	// Messages of more wire bytes than this request credit before they transmit, in BDP; with 0 all do, with inf none.
	UnschT Multiple `json:"unscht"`

	// Charge unscheduled bytes to B and to the sender's bucket, as released; false: only scheduled ones, as in the
	// paper's Algorithm 1.
	AccountUnscheduled bool `json:"account_unscheduled"`
	// Compare outstanding credit with the sender's bucket before adding the new credit, as released (one frame of
	// overshoot), or after, as in Algorithm 1.
	BucketCheck string `json:"bucket_check" jsonschema:"enum=before,enum=after"`
	// Packets that the AIMD loops count: data and credit from that host, as released; data only, as in the paper; or
	// all, with acknowledgements and other packets that the released simulator does not have.
	Samples string `json:"aimd_samples" jsonschema:"enum=released,enum=data,enum=all"`
	// EWMA gain g of both AIMD loops.
	Gain float64 `json:"gain"`
	// Additive increase in full frames for each bucket of packets.
	Increase float64 `json:"increase"`
	// Increase on marked packets too, as released.
	IncreaseOnMark bool `json:"increase_on_mark"`
	// Least distance between two decreases, in buckets of packets.
	CutSpacing float64 `json:"cut_spacing"`
	// Lower bound of the sender loop's bucket, in BDP; never below one frame.
	MinSenderBucket float64 `json:"min_sender_bucket"`
	// Lower bound of the network loop's bucket, in BDP; never below one frame.
	MinNetBucket float64 `json:"min_net_bucket"`
	// Silence of a sender in which what its buckets lack of their upper bound halves; 0: they stay as they are.
	BucketAging units.Time `json:"bucket_aging"`
	// A sender marks csn only with at least this many outbound messages.
	CSNMessages int `json:"csn_messages"`

	// Ports that mark: leaf-spine links, as released, all switch ports, or none.
	ECN string `json:"ecn" jsonschema:"enum=core,enum=all,enum=none"`
	// Rate at which credit is paced, as a share of the downlink.
	CreditRate float64 `json:"credit_rate"`
	// Packets of a message that one CREDIT is for at most. More than the paper's 1 cost less where hosts are slow, and
	// let packets come in bursts.
	CreditPackets int `json:"credit_packets"`
	// Whom a receiver credits next: the message with the fewest bytes to come, or the senders in turn (each sender's
	// oldest message).
	ReceiverPolicy string `json:"receiver_policy" jsonschema:"enum=srpt,enum=round_robin"`
	// Share of credit that goes to the message that came first, whatever the policy.
	OldestShare float64 `json:"oldest_share"`
	// Share of the uplink that is shared equally over receivers; the rest goes to the message with the fewest bytes
	// left.
	SenderFair float64 `json:"sender_fair"`
	// What travels in the high-priority class: control packets and unscheduled data, control packets only, or nothing.
	Priorities string `json:"priorities" jsonschema:"enum=data,enum=control,enum=none"`

	// How long the acknowledgement of an unscheduled message waits at most for a packet that it can ride on, or share
	// with others, in times of a BDP's round trip; 0: it goes at once.
	AckDelay float64 `json:"ack_delay"`

	// What shows that bytes are lost: that others which were sent later have arrived, or, as in the paper, silence for
	// the time of loss_timeout.
	LossDetection string `json:"loss_detection" jsonschema:"enum=order,enum=silence"`
	// Silence after which credit is reclaimed (twice that), and of which a peer may have max_resends more.
	LossTimeout units.Time `json:"loss_timeout"`
	// Attempts without an answer after which a message fails.
	MaxResends int `json:"max_resends"`
}

// defaults returns the parameters for a fabric.
func defaults(f *topo.Fabric) *Params {
	return &Params{
		BDP: param.EvaluatedBDP(f), B: 1.5, SThr: 0.5, NThr: 1.25, UnschT: 1,
		AccountUnscheduled: true, BucketCheck: "before", Samples: "released",
		Gain: 0.08, Increase: 1, IncreaseOnMark: true, CutSpacing: 1.5,
		MinSenderBucket: 0.1, MinNetBucket: 0.03, CSNMessages: 2,
		ECN: "core", CreditRate: 1, CreditPackets: 1, ReceiverPolicy: "srpt", SenderFair: 0.5, Priorities: "data",
		AckDelay: 1, LossDetection: "order", LossTimeout: param.Timeout(f, 2*units.Millisecond), MaxResends: 5,
	}
}

// maxMultiple keeps amounts of credit below 2^60 bytes.
const maxMultiple Multiple = 1e9

// Reasons that several limits have.
const (
	whyMultiple = "amounts of credit stay far from overflow, and inf is for no limit"
	whyShare    = "it is a share"
	whySlow     = "with more the loops would hardly ever move"
)

var limits = limit.Table{
	limit.Number("bdp", 1, maxBDP, "header fields count credit in 32 bits"),
	limit.Number("b", 1, maxMultiple, "with less a receiver cannot fill its link; "+whyMultiple).OrInfinite(),
	limit.Number("sthr", 0, maxMultiple, whyMultiple).OrInfinite(),
	limit.Number("nthr", 0, maxMultiple, whyMultiple).OrInfinite(),
	limit.Number("unscht", 0, maxMultiple, whyMultiple).OrInfinite(),
	limit.Number("gain", 0, 1., whyShare),
	limit.Number("increase", 0, 100., "with more one increase would fill a bucket"),
	limit.Number("cut_spacing", 0, 100., whySlow),
	limit.Number("csn_messages", 0, 1_000_000, "no sender has more messages"),
	limit.Number("min_sender_bucket", 0, 1., "a bucket has 1 BDP at most"),
	limit.Number("min_net_bucket", 0, 1., "a bucket has 1 BDP at most"),
	limit.Number("credit_rate", 0.01, 1., "it is a share, and with less nothing would arrive"),
	limit.Number("credit_packets", 1, 64, "bursts as long as that fill buffers"),
	limit.Number("bucket_aging", 0, limit.MaxSpan, "no run is longer"),
	limit.Number("oldest_share", 0, 1., whyShare),
	limit.Number("sender_fair", 0, 1., whyShare),
	limit.Number("ack_delay", 0, 32., "longer waits would pass for lost acknowledgements"),
	limit.Number("loss_timeout", 10*units.Microsecond, limit.MaxSpan, param.WhyTimeout),
	limit.Number("max_resends", 1, 1000, param.WhyAttempts),
}

// maxBDP is 1 GiB.
const maxBDP units.Bytes = 1 << 30

// validate returns an error that names a parameter that cannot work, nil if all can.
func (p *Params) validate(frame units.Bytes) error {
	if err := limits.Check(p); err != nil {
		return err
	}
	oneOf := param.OneOf
	if err := cmp.Or(
		oneOf("bucket_check", p.BucketCheck, "before", "after"),
		oneOf("aimd_samples", p.Samples, "released", "data", "all"),
		oneOf("ecn", p.ECN, "core", "all", "none"),
		oneOf("receiver_policy", p.ReceiverPolicy, "srpt", "round_robin"),
		oneOf("priorities", p.Priorities, "data", "control", "none"),
		oneOf("loss_detection", p.LossDetection, "order", "silence"),
	); err != nil {
		return err
	}
	if p.BDP < frame {
		return fmt.Errorf("bdp is %v: want at least one full frame of %d wire bytes", p.BDP, frame)
	}
	return nil
}

// Protocol is SIRD, for the list of transports that a scenario can select.
var Protocol = transport.Protocol{
	Name:          "sird",
	Wire:          wire.Protocol{Name: "SIRD", Port: Port, HeaderLen: headerLen, Header: &table},
	Framing:       framing,
	DefaultParams: func(f *topo.Fabric) any { return defaults(f) },
	Limits:        limits,
	Window:        func(params any) units.Bytes { return params.(*Params).BDP },
	Network:       func(_ *topo.Fabric, params any) transport.Network { return params.(*Params).network() },
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}

var framing = layout.Framing(dataLen)

func (p *Params) network() transport.Network {
	n := transport.Network{Priorities: 2}
	if p.Priorities == "none" {
		n.Priorities = 1
	}
	mark := p.NThr.of(p.BDP)
	if mark == units.Unlimited || p.ECN == "none" {
		return n
	}
	n.MarkCore = mark
	if p.ECN == "all" {
		n.MarkEdge = mark
	}
	return n
}

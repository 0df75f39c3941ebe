package doctor

// Fault names what is wrong.
type Fault string

// The faults that are told apart.
const (
	None           Fault = ""
	NotResolved    Fault = "name-not-resolved"
	NameServerDown Fault = "name-server-down"
	WrongPort      Fault = "wrong-port"
	NotRegistered  Fault = "broker-not-registered"
	Unreachable    Fault = "advertised-address-unreachable"
	TopicMissing   Fault = "topic-missing"
	TopicNotUsable Fault = "topic-not-usable" // its queues may not be read or written
)

// Step is one step of the way.
type Step struct {
	OK   bool   `json:"ok"`
	Says string `json:"says"`
}

// Report is what was found.
type Report struct {
	Fault    Fault  `json:"fault"`
	Sentence string `json:"sentence"` // what is wrong and what to do, or that nothing is
	Steps    []Step `json:"steps"`
}

func (r *Report) ok(says string) { r.Steps = append(r.Steps, Step{true, says}) }

// wrong notes a fault. The first one is what the report is about: what comes later may follow from it.
func (r *Report) wrong(fault Fault, says string) {
	r.Steps = append(r.Steps, Step{false, says})
	if r.Fault == None {
		r.Fault, r.Sentence = fault, says
	}
}

package stats

// Topic is the counters of one topic.
type Topic struct {
	service        *Service
	system         bool
	puts, putBytes counter
	queues         queues
	in             [kinds]traffic
}

// Copied counts a message of size bytes that a consumer sent back: as in RocketMQ it is the topic's,
// and none of the broker's until it is delivered.
func (t *Topic) Copied(size int64) {
	t.puts.add(1)
	t.putBytes.add(size)
}

// PutOK counts stored messages of size bytes in all; use it with n 1 for single sends.
func (t *Topic) PutOK(n, size int64) {
	t.puts.add(n)
	t.putBytes.add(size)
	t.service.broker[puts].add(n)
	t.service.putBytes.Add(size)
	if !t.system {
		t.service.broker[putsUser].add(n)
	}
}

// PutTook notes how long it took from a send into a queue to its answer, ms.
func (t *Topic) PutTook(queueID int32, ms int64) {
	t.service.putTook.add(ms)
	t.queues.at(queueID).took.add(ms)
}

// QueuePut counts a message of size bytes in one queue. RocketMQ has this of delay levels only.
func (t *Topic) QueuePut(queueID int32, size int64) {
	q := t.queues.at(queueID)
	q.messages.add(1)
	q.bytes.add(size)
}

func (t *Topic) each(visit func(*counter)) {
	visit(&t.puts)
	visit(&t.putBytes)
	t.queues.each(visit)
}

// Group is the counters of one consumer group in one topic.
type Group struct {
	service           *Service
	system            bool
	gots, gotBytes    counter
	sentBack          counter
	deadLetters       counter
	acks, checkpoints counter
	queues            queues
}

// Got counts a pull that returned n messages of size bytes in all.
func (g *Group) Got(n, size int64) {
	g.gots.add(n)
	g.gotBytes.add(size)
	g.service.broker[gots].add(n)
	g.service.gotBytes.Add(size)
	g.service.found.add(1)
	if !g.system {
		g.service.broker[gotsUser].add(n)
	}
}

// GotTook notes how long a look into a queue took, ms.
func (g *Group) GotTook(queueID int32, ms int64) {
	g.queues.at(queueID).took.add(ms)
	g.service.GotTook(ms)
}

// Delivered counts a message of size bytes that the broker itself has taken out of a queue, of a
// delay level.
func (g *Group) Delivered(queueID int32, size int64) {
	g.gots.add(1)
	g.gotBytes.add(size)
	q := g.queues.at(queueID)
	q.messages.add(1)
	q.bytes.add(size)
}

// SentBack counts a message that a consumer sent back.
func (g *Group) SentBack() { g.sentBack.add(1) }

// DeadLetter counts a message that a consumer sent back for the last time.
func (g *Group) DeadLetter() { g.deadLetters.add(1) }

// Acked counts popped messages that were acknowledged.
func (g *Group) Acked(n int64) {
	g.acks.add(n)
	g.service.broker[acks].add(n)
}

// Checkpointed counts pops that gave out messages.
func (g *Group) Checkpointed(n int64) {
	g.checkpoints.add(n)
	g.service.broker[checkpoints].add(n)
}

func (g *Group) each(visit func(*counter)) {
	for _, c := range []*counter{&g.gots, &g.gotBytes, &g.sentBack, &g.deadLetters, &g.acks, &g.checkpoints} {
		visit(c)
	}
	g.queues.each(visit)
}

package wheelmqtest_test

import (
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// A test has its own *testing.T; an example makes do with a Main.
func ExampleStart() {
	var t wheelmqtest.Main
	defer t.Close(false)

	mq := wheelmqtest.Start(&t, wheelmqtest.Topic("orders", 4))
	// Here a program's own client would connect to mq.NameServerAddr() and send.
	mq.Produce(wheelmqtest.ToProduce{Topic: "orders", Tags: "new", Body: []byte("one")})
	for _, m := range mq.Messages("orders") {
		fmt.Printf("%s %s\n", m.Tags, m.Body)
	}
	// Output: new one
}

// A message that is delayed by two hours comes when the clock is turned.
func ExampleBroker_Advance() {
	var t wheelmqtest.Main
	defer t.Close(false)

	mq := wheelmqtest.Start(&t, wheelmqtest.VirtualClock())
	mq.Produce(wheelmqtest.ToProduce{Topic: "orders", DelayLevel: 18, Body: []byte("cancel what is unpaid")})
	mq.Advance(time.Hour)
	fmt.Println("after an hour:", len(mq.Messages("orders")), "pending:", len(mq.Pending()))
	mq.Advance(time.Hour)
	fmt.Println("after two:", len(mq.Messages("orders")), "pending:", len(mq.Pending()))
	// Output:
	// after an hour: 0 pending: 1
	// after two: 1 pending: 0
}

// The second send to a topic meets a busy broker, as often as the rule says.
func ExampleBroker_Fault() {
	var t wheelmqtest.Main
	defer t.Close(false)

	mq := wheelmqtest.Start(&t, wheelmqtest.Topic("orders", 1))
	busy := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Topic: "orders", Skip: 1, Respond: wheelmqtest.SystemBusy, Count: 1})
	// A client sends here: its first send succeeds, its second is answered with SYSTEM_BUSY,
	// and what it sends again succeeds.
	fmt.Println(busy.Hits())
	// Output: 0
}

// A snapshot spares every test the same preparations.
func ExampleBroker_Restore() {
	var t wheelmqtest.Main
	defer t.Close(false)

	mq := wheelmqtest.Start(&t)
	mq.Produce(wheelmqtest.ToProduce{Topic: "orders", Body: []byte("prepared")})
	mq.Snapshot("prepared")
	mq.Produce(wheelmqtest.ToProduce{Topic: "orders", Body: []byte("by the first test")})
	fmt.Println(len(mq.Messages("orders")))
	mq.Restore("prepared")
	fmt.Println(len(mq.Messages("orders")))
	// Output:
	// 2
	// 1
}

// What a test relies on and RocketMQ 5.5.0 does not do is told at its end, and asked for here.
func ExampleBroker_Differences() {
	var t wheelmqtest.Main
	defer t.Close(false)

	mq := wheelmqtest.Start(&t, wheelmqtest.VirtualClock())
	mq.Produce(wheelmqtest.ToProduce{Topic: "orders", DelayLevel: 1, Body: []byte("x")})
	mq.Advance(time.Second)
	for _, d := range mq.Differences() {
		fmt.Println(d.Name)
	}
	// Output: delay-to-the-millisecond
}

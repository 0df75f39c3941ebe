package lock_test

import (
	"slices"
	"testing"

	"github.com/wheelmq/wheelmq/broker/lock"
	"github.com/wheelmq/wheelmq/clock"
)

func queue(id int32) lock.Queue { return lock.Queue{Topic: "T", BrokerName: "broker-a", QueueID: id} }

func TestLockIsOneClients(t *testing.T) {
	t.Parallel()
	table := lock.NewTable(clock.NewVirtual(1000))
	both := []lock.Queue{queue(0), queue(1)}

	if got := table.Lock("g", "c1", both); !slices.Equal(got, both) {
		t.Fatalf("c1 got %v, want both", got)
	}
	if got := table.Lock("g", "c2", both); len(got) != 0 {
		t.Fatalf("c2 got %v while c1 holds", got)
	}
	if got := table.Lock("other", "c2", both); len(got) != 2 {
		t.Fatalf("another group got %v, want both", got)
	}
	table.Unlock("g", "c2", both)
	if got := table.Lock("g", "c2", both); len(got) != 0 {
		t.Fatalf("c2 got %v after its own foreign unlock", got)
	}
	table.Unlock("g", "c1", both)
	if table.AnyHeld("g") {
		t.Error("a lock is held after unlock")
	}
	if got := table.Lock("g", "c2", both); !slices.Equal(got, both) {
		t.Fatalf("c2 got %v after c1's unlock, want both", got)
	}
}

func TestLockExpires(t *testing.T) {
	t.Parallel()
	wire := clock.NewVirtual(1000)
	table := lock.NewTable(wire)
	one := []lock.Queue{queue(0)}
	table.Lock("g", "c1", one)

	wire.Set(1000 + lock.MaxLiveMillis)
	if !table.AnyHeld("g") {
		t.Error("the lock is gone at 60 s")
	}
	table.Lock("g", "c1", one)
	wire.Set(1000 + 2*lock.MaxLiveMillis)
	if got := table.Lock("g", "c2", one); len(got) != 0 {
		t.Errorf("a renewed lock went to %v", got)
	}
	wire.Set(1001 + 2*lock.MaxLiveMillis)
	if table.AnyHeld("g") || table.Len() != 0 {
		t.Error("the lock is held beyond 60 s")
	}
	if got := table.Lock("g", "c2", one); len(got) != 1 {
		t.Error("an expired lock is not granted")
	}
}

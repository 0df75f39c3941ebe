package admin

import (
	"errors"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	t.Parallel()
	var called [100]atomic.Int32
	last := int64(0)
	err := each(len(called), func(done, total int64) {
		if done < 1 || total != 100 {
			t.Errorf("shown %d of %d", done, total)
		}
		last = max(last, done)
	}, func(i int) error {
		called[i].Add(1)
		return nil
	})
	if err != nil || last != 100 {
		t.Errorf("%d done, %v", last, err)
	}
	for i := range called {
		if n := called[i].Load(); n != 1 {
			t.Errorf("%d is called %d times", i, n)
		}
	}
	broken := errors.New("broken")
	if err := each(1000, quietly, func(i int) error {
		if i == 3 {
			return broken
		}
		return nil
	}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := each(0, quietly, nil); err != nil {
		t.Error(err)
	}
}

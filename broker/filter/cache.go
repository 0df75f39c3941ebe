package filter

import "sync"

// cacheSize bounds a Cache: a server's subscriptions are few, a hostile client's are not.
const cacheSize = 4096

// Cache keeps compiled TAG expressions, for requests that carry their subscription. The
// zero value is ready and safe for concurrent use.
type Cache struct {
	mu   sync.RWMutex // guards tags
	tags map[string]*Filter
}

// Compile is Compile without an allocation for an expression that was seen before.
func (c *Cache) Compile(expressionType, expression []byte) (*Filter, error) {
	if len(expressionType) > 0 && string(expressionType) != TypeTag {
		return Compile(string(expressionType), string(expression))
	}
	if len(expression) == 0 || string(expression) == SubAll {
		return All, nil
	}
	c.mu.RLock()
	f := c.tags[string(expression)]
	c.mu.RUnlock()
	if f != nil {
		return f, nil
	}
	f, err := Compile(TypeTag, string(expression))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tags == nil || len(c.tags) >= cacheSize {
		c.tags = make(map[string]*Filter)
	}
	c.tags[string(expression)] = f
	return f, nil
}

package filter

import "sync"

// What bounds a Cache: a server's subscriptions are few, a hostile client's are not.
const (
	cacheEntries = 4096
	cacheBytes   = 1 << 20 // of expressions; compiled they take up to a hundred times as much
)

// Cache keeps compiled expressions, for requests that carry their subscription. The zero value is
// ready and safe for concurrent use.
type Cache struct {
	mu    sync.RWMutex // guards all below
	tags  map[string]*Filter
	sqls  map[string]*Filter
	bytes int
}

// Compile is Compile without an allocation for an expression that was seen before.
func (c *Cache) Compile(expressionType, expression []byte) (*Filter, error) {
	byTag := ByTag(expressionType)
	if byTag && (len(expression) == 0 || string(expression) == subAll) {
		return All, nil
	}
	if !byTag && string(expressionType) != TypeSQL92 {
		return Compile(string(expressionType), string(expression))
	}
	c.mu.RLock()
	f := c.kept(byTag)[string(expression)]
	c.mu.RUnlock()
	if f != nil {
		return f, nil
	}
	f, err := Compile(string(expressionType), string(expression))
	if err != nil {
		return nil, err
	}
	c.keep(byTag, string(expression), f)
	return f, nil
}

func (c *Cache) kept(byTag bool) map[string]*Filter {
	if byTag {
		return c.tags
	}
	return c.sqls
}

func (c *Cache) keep(byTag bool, expression string, f *Filter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tags == nil || len(c.tags)+len(c.sqls) >= cacheEntries || c.bytes+len(expression) > cacheBytes {
		c.tags, c.sqls, c.bytes = make(map[string]*Filter), make(map[string]*Filter), 0
	}
	c.kept(byTag)[expression] = f
	c.bytes += len(expression)
}

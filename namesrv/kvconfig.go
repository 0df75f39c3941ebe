package namesrv

import (
	"maps"
	"sync"

	"github.com/wheelmq/wheelmq/remoting"
)

// kvConfig is the KV configuration: namespace → key → value, in memory.
type kvConfig struct {
	mu    sync.RWMutex // guards table
	table map[string]map[string]string
}

func newKVConfig() *kvConfig { return &kvConfig{table: make(map[string]map[string]string)} }

func (c *kvConfig) value(namespace, key string) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.table[namespace][key]
}

func (c *kvConfig) namespace(namespace string) map[string]string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.table[namespace])
}

func (c *kvConfig) put(ex *remoting.Exchange) error {
	var req remoting.KVConfigRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.table[req.Namespace] == nil {
		c.table[req.Namespace] = make(map[string]string)
	}
	c.table[req.Namespace][req.Key] = req.Value
	return nil
}

func (c *kvConfig) get(ex *remoting.Exchange) error {
	var req remoting.KVConfigRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	value := c.value(req.Namespace, req.Key)
	if value == "" {
		return remoting.Errorf(remoting.QueryNotFound, "No config item, Namespace: %s Key: %s", req.Namespace, req.Key)
	}
	ex.Reply.Ext.String("value", value)
	return nil
}

func (c *kvConfig) delete(ex *remoting.Exchange) error {
	var req remoting.KVConfigRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.table[req.Namespace], req.Key)
	return nil
}

func (c *kvConfig) list(ex *remoting.Exchange) error {
	var req remoting.GetKVListByNamespaceRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	table := c.namespace(req.Namespace)
	if len(table) == 0 {
		return remoting.Errorf(remoting.QueryNotFound, "No config item, Namespace: %s", req.Namespace)
	}
	return encode(ex, remoting.KVTable{Table: table})
}

package config

import "fmt"

// Entry is one key with its effective value.
type Entry struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Source  string `json:"source"` // SourceDefault, a file's path, a flag
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

// Entries lists every key in the order of Keys, with its value and who set it.
func (c *Config) Entries() []Entry {
	list := make([]Entry, len(keys))
	for i, k := range keys {
		list[i] = Entry{Key: k.Name, Value: fmt.Sprint(c.value(k).Interface()), Source: c.Source(k.Name), Default: k.Default, Doc: k.Doc}
	}
	return list
}

package remoting

// Field is one entry of a header's extFields.
type Field struct {
	Key, Value []byte
}

// Fields are a header's extFields in the order they arrived in. Header structs decode
// themselves in one pass over All; single look-ups use Get.
type Fields struct {
	list    []Field
	scratch []byte // unescaped values
}

// All returns the fields; the slice aliases f.
func (f *Fields) All() []Field { return f.list }

// Len is the number of fields.
func (f *Fields) Len() int { return len(f.list) }

// Reset forgets all fields and keeps the memory.
func (f *Fields) Reset() { f.list, f.scratch = f.list[:0], f.scratch[:0] }

// Add appends a field; key and value are kept, not copied.
func (f *Fields) Add(key, value []byte) {
	f.list = append(f.list, Field{})
	// In place: a Field built elsewhere would be copied before its parts are written.
	last := &f.list[len(f.list)-1]
	last.Key, last.Value = key, value
}

// Set appends a field given as strings.
func (f *Fields) Set(key, value string) { f.Add([]byte(key), []byte(value)) }

// Get returns the value of the last field named key.
func (f *Fields) Get(key string) ([]byte, bool) {
	for i := len(f.list) - 1; i >= 0; i-- {
		if string(f.list[i].Key) == key {
			return f.list[i].Value, true
		}
	}
	return nil, false
}

package remoting

import "math"

// header is a struct that names each of its fields once, in the order they are read and written in.
type header interface {
	fields(*headerFields)
}

// headerFields are the fields of a command, while a header reads its own out of them or writes them.
type headerFields struct {
	read   *Fields    // nil when writing
	write  *ExtWriter // nil when reading
	failed *Error     // the first failure
}

func decodeHeader(fields *Fields, h header) error {
	f := headerFields{read: fields}
	h.fields(&f)
	if f.failed == nil {
		return nil
	}
	return f.failed
}

func encodeHeader(w *ExtWriter, h header) {
	h.fields(&headerFields{write: w})
}

// text is a required field.
func (f *headerFields) text(name string, v *string) {
	if f.write != nil {
		f.write.String(name, *v)
		return
	}
	*v = string(f.required(name))
}

// optText may lack; empty is not written.
func (f *headerFields) optText(name string, v *string) {
	if f.write != nil && *v == "" {
		return
	}
	f.anyText(name, v)
}

// anyText may lack; it is always written.
func (f *headerFields) anyText(name string, v *string) {
	if f.write != nil {
		f.write.String(name, *v)
		return
	}
	value, _ := f.read.Get(name)
	*v = string(value)
}

// bytes is a required field that aliases the frame.
func (f *headerFields) bytes(name string, v *[]byte) {
	if f.write != nil {
		f.write.Bytes(name, *v)
		return
	}
	*v = f.required(name)
}

// optBytes aliases the frame; nil when absent.
func (f *headerFields) optBytes(name string, v *[]byte) {
	switch {
	case f.write == nil:
		*v, _ = f.read.Get(name)
	case *v != nil:
		f.write.Bytes(name, *v)
	}
}

// optPlain is optBytes of a value that needs no escapes.
func (f *headerFields) optPlain(name string, v *[]byte) {
	switch {
	case f.write == nil:
		*v, _ = f.read.Get(name)
	case *v != nil:
		f.write.Plain(name, *v)
	}
}

// int64 is a required field.
func (f *headerFields) int64(name string, v *int64) {
	if f.write != nil {
		f.write.Int(name, *v)
		return
	}
	*v = 0
	if value, ok := f.read.Get(name); !ok {
		f.fail(nullField(name))
	} else {
		*v = f.number(name, value)
	}
}

// optInt64 may lack or be empty, which means absent; that is not written.
func (f *headerFields) optInt64(name string, v *int64, absent int64) {
	if f.write != nil && *v == absent {
		return
	}
	f.int64Or(name, v, absent)
}

// int64Or may lack or be empty, which means absent; it is always written.
func (f *headerFields) int64Or(name string, v *int64, absent int64) {
	if f.write != nil {
		f.write.Int(name, *v)
		return
	}
	*v = absent
	if value, ok := f.read.Get(name); ok && len(value) > 0 {
		*v = f.number(name, value)
	}
}

// int32 is a required field.
func (f *headerFields) int32(name string, v *int32) {
	wide := int64(*v)
	f.int64(name, &wide)
	*v = f.narrow(name, wide)
}

// optInt32 is optInt64 of 32 bits.
func (f *headerFields) optInt32(name string, v *int32, absent int32) {
	wide := int64(*v)
	f.optInt64(name, &wide, int64(absent))
	*v = f.narrow(name, wide)
}

// int32Or is int64Or of 32 bits.
func (f *headerFields) int32Or(name string, v *int32, absent int32) {
	wide := int64(*v)
	f.int64Or(name, &wide, int64(absent))
	*v = f.narrow(name, wide)
}

// boolOr may lack or be empty, which means absent; it is always written.
func (f *headerFields) boolOr(name string, v *bool, absent bool) {
	if f.write != nil {
		f.write.Bool(name, *v)
		return
	}
	*v = absent
	if value, ok := f.read.Get(name); ok && len(value) > 0 {
		*v = parseBool(value)
	}
}

// mark is set by "true", to the letter, and written when it is set.
func (f *headerFields) mark(name string, v *bool) {
	if f.write == nil {
		value, _ := f.read.Get(name)
		*v = string(value) == "true"
	} else if *v {
		f.write.Bool(name, true)
	}
}

func (f *headerFields) required(name string) []byte {
	value, ok := f.read.Get(name)
	if !ok {
		f.fail(nullField(name))
	}
	return value
}

func (f *headerFields) number(name string, value []byte) int64 {
	n, ok := parseInt(value)
	if !ok {
		f.fail(badField(name, value, "an integer"))
	}
	return n
}

func (f *headerFields) narrow(name string, n int64) int32 {
	if n > math.MaxInt32 || n < math.MinInt32 {
		f.fail(Errorf(SystemError, "the custom field <%s> is %d, want 32 bits", name, n))
		return 0
	}
	return int32(n)
}

func (f *headerFields) fail(e *Error) {
	if f.failed == nil {
		f.failed = e
	}
}

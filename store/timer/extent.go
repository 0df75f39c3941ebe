package timer

import (
	"fmt"
	"slices"

	"github.com/wheelmq/wheelmq/store/region"
)

// An extent reserves space in pieces of an eighth of what it has, within these bounds, bytes:
// small ones are many, and large ones grow fast. Pieces end at multiples of the smallest.
//
// Pages are made in steps of it and no further ahead: whenever anybody syncs the file system, those that
// are made and not used yet are written for nothing, and fault again.
const (
	minPiece = 64 << 10
	maxPiece = 1 << 20
)

// extent is a byte space in files of equal size (its chunks), mapped while used. What is written
// may lie in two of them. One goroutine uses it.
type extent struct {
	fs       region.FS
	name     string // of the files, before the chunk's number
	chunk    int64  // size of a file, bytes
	reserved int64  // bytes from the begin that have disk space
	made     int64  // bytes from the begin whose pages are made
	missing  []int64
	maps     map[int64]region.Region // by number of the chunk

	at int64 // first byte of the chunk that was used last
	b  []byte
}

func chunkFile(name string, number int64) string { return fmt.Sprintf("%s-%06d", name, number) }

// use makes b the bytes of the chunk that holds a position.
func (x *extent) use(pos int64) error {
	if len(x.b) > 0 && pos >= x.at && pos < x.at+int64(len(x.b)) {
		return nil
	}
	number := pos / x.chunk
	r := x.maps[number]
	if r == nil {
		if slices.Contains(x.missing, number) {
			return fmt.Errorf("%w: %s is missing", ErrDamaged, x.file(pos))
		}
		var err error
		if r, err = x.fs.Open(chunkFile(x.name, number), int(x.chunk)); err != nil {
			return fmt.Errorf("timer: %w", err)
		}
		if x.maps == nil {
			x.maps = make(map[int64]region.Region)
		}
		x.maps[number] = r
	}
	x.at, x.b = number*x.chunk, r.Bytes()
	return nil
}

// direct is the place of n bytes when they lie in one chunk, else nil.
func (x *extent) direct(pos, n int64) ([]byte, error) {
	if err := x.use(pos); err != nil {
		return nil, err
	}
	if from := pos - x.at; from+n <= int64(len(x.b)) {
		return x.b[from : from+n : from+n], nil
	}
	return nil, nil
}

// view returns n bytes, a copy where they lie in two chunks. They are valid until the chunk is
// let go.
func (x *extent) view(pos, n int64) ([]byte, error) {
	b, err := x.direct(pos, n)
	if b != nil || err != nil {
		return b, err
	}
	b = make([]byte, 0, n)
	for n > int64(len(b)) {
		at := pos + int64(len(b))
		if err := x.use(at); err != nil {
			return nil, err
		}
		rest := x.b[at-x.at:]
		b = append(b, rest[:min(n-int64(len(b)), int64(len(rest)))]...)
	}
	return b, nil
}

// write copies b to a position that has space.
func (x *extent) write(pos int64, b []byte) error {
	for len(b) > 0 {
		if err := x.use(pos); err != nil {
			return err
		}
		n := copy(x.b[pos-x.at:], b)
		pos, b = pos+int64(n), b[n:]
	}
	return nil
}

// grow reserves space up to a position and a piece ahead, and makes the pages of a step of it in one go.
// Nothing is written behind end yet.
func (x *extent) grow(end, to int64) error {
	if to > x.reserved {
		piece := min(max(x.reserved/8, minPiece), maxPiece)
		chunkEnd := ((to-1)/x.chunk + 1) * x.chunk
		if err := x.reserve(min(stepUp(max(to, x.reserved+piece)), chunkEnd)); err != nil {
			return err
		}
	}
	return x.blank(max(x.made, end), min(stepUp(to), x.reserved))
}

// stepUp is the next multiple of a step.
func stepUp(pos int64) int64 { return (pos + minPiece - 1) / minPiece * minPiece }

// blank makes the pages of [from, to), where there is space and nothing is written yet.
func (x *extent) blank(from, to int64) error {
	for from < to {
		if err := x.use(from); err != nil {
			return err
		}
		end := min(to, x.at+x.chunk)
		x.maps[from/x.chunk].Blank(int(from-x.at), int(end-x.at))
		from, x.made = end, end
	}
	return nil
}

// reserve puts disk space behind everything up to a position. What it got before an error is
// kept.
func (x *extent) reserve(to int64) error {
	for x.reserved < to {
		if err := x.use(x.reserved); err != nil {
			return err
		}
		end := min(to, x.at+x.chunk)
		r := x.maps[x.reserved/x.chunk]
		if err := r.Reserve(int(x.reserved-x.at), int(end-x.at)); err != nil {
			return fmt.Errorf("timer: %w", err)
		}
		x.reserved = end
	}
	return nil
}

// leave unmaps the chunks that end at a position or before.
func (x *extent) leave(pos int64) {
	for number := range x.maps {
		if (number+1)*x.chunk <= pos {
			x.unmap(number)
		}
	}
}

// unmap lets go of a chunk. Unmapping a valid mapping fails only by a programmer's error;
// nothing is lost.
func (x *extent) unmap(number int64) {
	_ = x.maps[number].Close()
	delete(x.maps, number)
	if x.at == number*x.chunk {
		x.b = nil
	}
}

func (x *extent) close() {
	for number := range x.maps {
		x.unmap(number)
	}
}

// sync makes the bytes [from, to) durable, those of them that there are.
func (x *extent) sync(from, to int64) error {
	for from < to {
		if number := from / x.chunk; slices.Contains(x.missing, number) {
			from = (number + 1) * x.chunk
			continue
		}
		if err := x.use(from); err != nil {
			return err
		}
		end := min(to, x.at+x.chunk)
		if err := x.maps[from/x.chunk].Sync(int(from-x.at), int(end-x.at)); err != nil {
			return fmt.Errorf("timer: %w", err)
		}
		from = end
	}
	return nil
}

// file is the one that holds a position.
func (x *extent) file(pos int64) string { return chunkFile(x.name, pos/x.chunk) }

// chunks is how many files hold n bytes.
func (x *extent) chunks(n int64) int64 { return (n + x.chunk - 1) / x.chunk }

// apart is the same extent for another user: it maps for itself.
func (x *extent) apart() extent {
	return extent{fs: x.fs, name: x.name, chunk: x.chunk, missing: x.missing}
}

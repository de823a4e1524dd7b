package queue

// A Free is a free list: objects are used again, so that a protocol allocates only
// as many as are ever in use at once. The zero value is empty.
type Free[T any] struct{ list []*T }

// Get returns an object as it was put, or a new one.
func (f *Free[T]) Get() *T {
	last := len(f.list) - 1
	if last < 0 {
		return new(T)
	}
	e := f.list[last]
	f.list[last] = nil
	f.list = f.list[:last]
	return e
}

// Put takes an object that is no longer in use.
func (f *Free[T]) Put(e *T) { f.list = append(f.list, e) }

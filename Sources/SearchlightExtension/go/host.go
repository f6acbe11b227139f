// SPDX-License-Identifier: Apache-2.0

package searchlight

/*
#include "bridge.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"strings"
	"unsafe"
)

// Host is the host of this extension. All functions may be called from any goroutine.
type Host struct {
	// link is C memory, so that its address can be passed to C. It is never freed, because batches may
	// use it until the process ends.
	link *C.searchlight_go_host
}

func connected(raw *C.searchlight_host) *Host {
	link := (*C.searchlight_go_host)(C.malloc(C.sizeof_searchlight_go_host))
	*link = C.searchlight_go_connect(raw)
	return &Host{link}
}

// BundleIdentifier returns the identifier of the extension's bundle.
func (host *Host) BundleIdentifier() string { return C.GoString(host.link.host.bundle_identifier) }

// BundlePath returns the absolute path of the extension's bundle.
func (host *Host) BundlePath() string { return C.GoString(host.link.host.bundle_path) }

// LogLevel is the level of a log message.
type LogLevel int32

// The levels.
const (
	Info        LogLevel = 1
	Warning     LogLevel = 2
	ErrorReport LogLevel = 3
)

// Log logs a message for the maintainer of the extension.
func (host *Host) Log(level LogLevel, message string) {
	text := C.CString(message)
	defer C.free(unsafe.Pointer(text))
	C.searchlight_go_log(host.link, C.int32_t(level), text)
}

// ReportLeftOut reports content that is not indexed. Use the same reason for all content of a kind.
func (host *Host) ReportLeftOut(name, reason string) {
	var memory arena
	defer memory.free()
	C.searchlight_go_left_out(host.link, memory.text(name), memory.text(reason))
}

// DefaultIndex is the name of the default index.
const DefaultIndex = ""

// MaximumListing is the largest limit of ListItems.
const MaximumListing = 1000

// ProtectionClass is the protection class of an index.
type ProtectionClass int32

// The protection classes. While the store is locked, the two encrypted classes differ.
const (
	ClassNone               ProtectionClass = 0 // not encrypted
	ClassCompleteUnlessOpen ProtectionClass = 1 // encrypted; accepts donations while the store is locked
	ClassComplete           ProtectionClass = 2 // encrypted; rejects donations while the store is locked
)

// SetClass sets the class of a named index for all later donations of this worker. The first one
// makes the index encrypted. It fails with Unavailable while the store is locked, and with Failed
// if the index has items without encryption.
//
// If the host cannot encrypt, the status of the error is Unsupported. Do not donate items then that
// must be encrypted.
func (host *Host) SetClass(index string, class ProtectionClass) error {
	var memory arena
	defer memory.free()
	name := memory.text(index)
	if memory.problem != nil {
		return memory.problem
	}
	status := C.searchlight_go_set_class(host.link, name, C.int32_t(class))
	return checked(status, "setting the class of an index")
}

// ListItems returns identifiers of the extension's own items in an index, sorted by their bytes,
// after everything that was sent before is durable. The page starts after the given identifier, or
// at the beginning if that is empty. A page shorter than the limit is the last one.
func (host *Host) ListItems(index, after string, limit int) ([]string, error) {
	var memory arena
	defer memory.free()
	answer := host.wait("requesting a list of items", func(context C.uintptr_t) C.int32_t {
		name, start := memory.optional(index), memory.optional(after)
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		return C.searchlight_go_list(host.link, name, start, C.uint32_t(limit), context)
	}, &memory)
	return answer.texts, answer.err
}

// ReadClientState returns the client state of the last durable batch of an index; nil if there is
// none.
func (host *Host) ReadClientState(index string) ([]byte, error) {
	var memory arena
	defer memory.free()
	answer := host.wait("requesting the client state", func(context C.uintptr_t) C.int32_t {
		name := memory.optional(index)
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		return C.searchlight_go_read_state(host.link, name, context)
	}, &memory)
	return answer.bytes, answer.err
}

// wait sends something to the host and waits for the answer. Nothing is sent if a text is invalid.
func (host *Host) wait(step string, send func(context C.uintptr_t) C.int32_t, memory *arena) outcome {
	channel := make(chan outcome, 1)
	handle := cgo.NewHandle(channel)
	defer handle.Delete()
	status := send(C.uintptr_t(handle))
	switch {
	case memory.problem != nil:
		return outcome{err: memory.problem}
	case status != C.SEARCHLIGHT_OK:
		return outcome{err: checked(status, step)}
	}
	return <-channel
}

func checked(status C.int32_t, step string) error {
	if status == C.SEARCHLIGHT_OK {
		return nil
	}
	return Errorf(Status(status), "%s failed", step)
}

// arena owns C memory until it is freed. It records the first text that cannot be expressed in C.
type arena struct {
	blocks  []unsafe.Pointer
	problem error
}

func (memory *arena) own(block unsafe.Pointer) unsafe.Pointer {
	memory.blocks = append(memory.blocks, block)
	return block
}

func (memory *arena) text(text string) *C.char {
	if strings.IndexByte(text, 0) >= 0 && memory.problem == nil {
		memory.problem = Errorf(InvalidArgument, "%q contains a NUL character", text)
	}
	return (*C.char)(memory.own(unsafe.Pointer(C.CString(text))))
}

// optional returns NULL for an empty text.
func (memory *arena) optional(text string) *C.char {
	if text == "" {
		return nil
	}
	return memory.text(text)
}

func (memory *arena) texts(texts []string) (**C.char, C.size_t) {
	block := memory.own(C.calloc(C.size_t(len(texts)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	pointers := unsafe.Slice((**C.char)(block), len(texts)+1)
	for place, text := range texts {
		pointers[place] = memory.text(text)
	}
	return (**C.char)(block), C.size_t(len(texts))
}

// bytes returns a copy, which is never NULL.
func (memory *arena) bytes(bytes []byte) unsafe.Pointer {
	return memory.own(C.CBytes(append(bytes[:len(bytes):len(bytes)], 0)))
}

func (memory *arena) free() {
	for _, block := range memory.blocks {
		C.free(block)
	}
	memory.blocks = nil
}

// Batch is a set of changes that become durable together, or not at all. It has at most 32 MiB, and
// is used by one goroutine at a time. Close releases its memory.
type Batch struct {
	host *Host
	raw  *C.searchlight_batch
}

// NewBatch returns an empty batch.
func (host *Host) NewBatch() *Batch {
	batch := &Batch{host, C.searchlight_go_batch(host.link)}
	runtime.SetFinalizer(batch, (*Batch).Close)
	return batch
}

// Close releases the memory of the batch.
func (batch *Batch) Close() {
	if batch.raw != nil {
		C.searchlight_go_release_batch(batch.host.link, batch.raw)
	}
	batch.raw = nil
}

// change adds a change with texts to the batch.
func (batch *Batch) change(step string, body func(memory *arena) C.int32_t) error {
	if batch.raw == nil {
		return Errorf(InvalidArgument, "%s failed: the batch is closed", step)
	}
	var memory arena
	defer memory.free()
	status := body(&memory)
	if memory.problem != nil {
		return memory.problem
	}
	return checked(status, step)
}

// Remove removes items.
func (batch *Batch) Remove(identifiers ...string) error {
	return batch.change("adding a deletion to the batch", func(memory *arena) C.int32_t {
		texts, count := memory.texts(identifiers)
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		return C.searchlight_go_remove(batch.host.link, batch.raw, texts, count)
	})
}

// RemoveDomains removes the items of domains and their subdomains.
func (batch *Batch) RemoveDomains(domains ...string) error {
	return batch.change("adding a deletion to the batch", func(memory *arena) C.int32_t {
		texts, count := memory.texts(domains)
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		return C.searchlight_go_remove_domains(batch.host.link, batch.raw, texts, count)
	})
}

// RemoveAll removes all items. During a reindex, they can still be found until it ends.
func (batch *Batch) RemoveAll() error {
	return batch.change("adding a deletion to the batch", func(*arena) C.int32_t {
		return C.searchlight_go_remove_all(batch.host.link, batch.raw)
	})
}

// Rename changes identifiers. It takes a map from old to new identifiers.
func (batch *Batch) Rename(renames map[string]string) error {
	var old, new []string
	for from, to := range renames {
		old, new = append(old, from), append(new, to)
	}
	return batch.change("adding new identifiers to the batch", func(memory *arena) C.int32_t {
		from, count := memory.texts(old)
		to, _ := memory.texts(new)
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		return C.searchlight_go_rename(batch.host.link, batch.raw, from, to, count)
	})
}

// Commit makes the changes durable in the default index, and returns once they are durable.
func (batch *Batch) Commit() error { return batch.CommitState(DefaultIndex, nil, AnyState()) }

// Expectation is the stored client state that a batch expects.
type Expectation struct {
	kind     C.int32_t
	expected []byte
}

// AnyState expects any client state.
func AnyState() Expectation { return Expectation{C.SEARCHLIGHT_EXPECT_ANY, nil} }

// NoState expects that there is no client state.
func NoState() Expectation { return Expectation{C.SEARCHLIGHT_EXPECT_NONE, nil} }

// State expects this client state.
func State(expected []byte) Expectation { return Expectation{C.SEARCHLIGHT_EXPECT_STATE, expected} }

// CommitState does the same in a named index, which also stores the client state (at most 250
// bytes). If the previously stored client state is not the expected one, nothing changes, and the
// status of the error is Refused.
func (batch *Batch) CommitState(index string, state []byte, expectation Expectation) error {
	if batch.raw == nil {
		return Errorf(InvalidArgument, "the batch is closed")
	}
	var memory arena
	defer memory.free()
	answer := batch.host.wait("sending the batch", func(context C.uintptr_t) C.int32_t {
		name := memory.optional(index)
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		return C.searchlight_go_commit(batch.host.link, batch.raw, name, memory.bytes(state), C.size_t(len(state)),
			expectation.kind, memory.bytes(expectation.expected), C.size_t(len(expectation.expected)), context)
	}, &memory)
	runtime.KeepAlive(batch)
	return answer.err
}

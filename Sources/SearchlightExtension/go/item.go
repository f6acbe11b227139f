// SPDX-License-Identifier: Apache-2.0

package searchlight

/*
#include "bridge.h"
*/
import "C"

import (
	"io"
	"math"
	"os"
	"time"
	"unsafe"
)

// Item is an item to donate.
type Item struct {
	Identifier  string
	Domain      string // dotted, or empty
	ContentType string // a uniform type identifier, or empty
	// Attributes have the names and units of CSSearchableItemAttributeSet.
	Attributes Attributes
	// Traits are the search traits of custom attributes.
	Traits map[string]Traits
	// Expires is the date at which the item expires. The zero value means one month after the
	// donation.
	Expires time.Time
	// NeverExpires keeps the item until it is removed.
	NeverExpires bool
}

// Attributes are values of the types string, []string, int, int64, float64, bool, time.Time and
// []byte.
type Attributes map[string]any

// Traits are search traits of an attribute.
type Traits uint32

// The traits.
const (
	Searchable          Traits = 1 // found by searches; otherwise only stored
	SearchableByDefault Traits = 2 // also by queries that name no attribute
)

// Add adds an item to the batch. The item's values are copied.
func (batch *Batch) Add(item Item) error {
	link := batch.host.link
	return batch.change("adding the item "+item.Identifier, func(memory *arena) C.int32_t {
		identifier, domain := memory.text(item.Identifier), memory.optional(item.Domain)
		contentType := memory.optional(item.ContentType)
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		raw := C.searchlight_go_item(link, identifier, domain, contentType)
		if raw == nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		defer C.searchlight_go_release_item(link, raw)
		for name, value := range item.Attributes {
			memory.note(setAttribute(link, raw, name, value, memory))
		}
		for name, traits := range item.Traits {
			status := C.searchlight_go_traits(link, raw, memory.text(name), C.uint32_t(traits))
			memory.note(checked(status, "setting the traits of "+name))
		}
		if item.NeverExpires {
			memory.note(checked(C.searchlight_go_expire(link, raw, C.double(math.Inf(1))), "setting the expiration"))
		} else if !item.Expires.IsZero() {
			memory.note(checked(C.searchlight_go_expire(link, raw, seconds(item.Expires)), "setting the expiration"))
		}
		if memory.problem != nil {
			return C.SEARCHLIGHT_INVALID_ARGUMENT
		}
		return C.searchlight_go_add(link, batch.raw, raw)
	})
}

func (memory *arena) note(err error) {
	if memory.problem == nil {
		memory.problem = err
	}
}

func seconds(date time.Time) C.double { return C.double(float64(date.UnixMicro()) / 1e6) }

func setAttribute(link *C.searchlight_go_host, item *C.searchlight_item, name string, value any, memory *arena) error {
	key := memory.text(name)
	var status C.int32_t
	switch value := value.(type) {
	case string:
		status = C.searchlight_go_set_string(link, item, key, memory.text(value))
	case []string:
		texts, count := memory.texts(value)
		status = C.searchlight_go_set_strings(link, item, key, texts, count)
	case int:
		status = C.searchlight_go_set_integer(link, item, key, C.int64_t(value))
	case int64:
		status = C.searchlight_go_set_integer(link, item, key, C.int64_t(value))
	case float64:
		status = C.searchlight_go_set_number(link, item, key, C.double(value))
	case bool:
		truth := C.int32_t(0)
		if value {
			truth = 1
		}
		status = C.searchlight_go_set_boolean(link, item, key, truth)
	case time.Time:
		status = C.searchlight_go_set_date(link, item, key, seconds(value))
	case []byte:
		status = C.searchlight_go_set_data(link, item, key, memory.bytes(value), C.size_t(len(value)))
	default:
		return Errorf(InvalidArgument, "the attribute %s has a value of the type %T", name, value)
	}
	return checked(status, "setting "+name)
}

// Request is a request in progress.
type Request struct {
	host   *Host
	number C.uint64_t
}

// IsCancelled returns true once the host is no longer waiting for the answer.
func (request *Request) IsCancelled() bool {
	return C.searchlight_go_is_cancelled(request.host.link, request.number) != 0
}

// Check returns an error if the request was cancelled. Long-running work should call this
// repeatedly.
func (request *Request) Check() error {
	if request.IsCancelled() {
		return Errorf(Cancelled, "the request was cancelled")
	}
	return nil
}

// Report reports progress in units of your choice; total is 0 if it is not known. A report counts
// as a sign of life, and is shown to users.
func (request *Request) Report(completed, total uint64) {
	C.searchlight_go_report(request.host.link, request.number, C.uint64_t(completed), C.uint64_t(total))
}

func (request *Request) finish(status C.int32_t, message *C.char) {
	C.searchlight_go_finish(request.host.link, request.number, status, message)
}

func (request *Request) fail(err error) {
	text := C.CString(err.Error())
	defer C.free(unsafe.Pointer(text))
	request.finish(C.int32_t(statusOf(err)), text)
}

func (request *Request) finishPage(next []byte) {
	var memory arena
	defer memory.free()
	var cursor unsafe.Pointer
	if next != nil {
		cursor = memory.bytes(next)
	}
	C.searchlight_go_finish_page(request.host.link, request.number, cursor, C.size_t(len(next)))
}

func (request *Request) finishData(data []byte) {
	var start unsafe.Pointer
	if len(data) > 0 {
		start = unsafe.Pointer(&data[0])
	}
	C.searchlight_go_finish_data(request.host.link, request.number, start, C.size_t(len(data)))
}

// finishOpen gives an open file. A host without descriptors gives an error.
func (request *Request) finishOpen(file *os.File, name string) error {
	defer file.Close()
	if request.host.link.content == nil {
		return Errorf(Unsupported, "this host takes no open files")
	}
	var memory arena
	defer memory.free()
	text := memory.optional(name)
	if memory.problem == nil {
		C.searchlight_go_finish_descriptor(request.host.link, request.number, C.int32_t(file.Fd()), text)
	}
	return memory.problem
}

// streamBytes is the size of the pieces of a stream.
const streamBytes = 256 << 10

func (request *Request) finishContent(content Content) error {
	if closer, closes := content.Reader.(io.Closer); closes {
		defer closer.Close()
	}
	switch hasContent := request.host.link.content != nil; {
	case content.File != nil && hasContent:
		return request.finishOpen(content.File, "")
	case content.Reader != nil && hasContent:
		return request.stream(content.Reader, content.Length)
	case content.File != nil:
		defer content.File.Close()
		if _, err := content.File.Seek(0, io.SeekStart); err != nil {
			return err
		}
		content.Reader = content.File
	case content.Reader == nil:
		request.finishData(content.Data)
		return nil
	}
	data, err := io.ReadAll(content.Reader)
	if err == nil {
		request.finishData(data)
	}
	return err
}

// stream gives a stream, which answers the request. A later error only ends the stream.
func (request *Request) stream(reader io.Reader, length uint64) error {
	link := request.host.link
	stream := C.searchlight_go_stream(link, request.number, C.uint64_t(length))
	if stream == nil {
		return Errorf(Unavailable, "there are too many streams or descriptors; end a stream first")
	}
	defer C.searchlight_go_end(link, stream)
	err := guarded(func() error {
		buffer := make([]byte, streamBytes)
		for left := length; left > 0; {
			part := buffer
			if left < streamBytes {
				part = buffer[:left]
			}
			count, err := io.ReadFull(reader, part)
			if count > 0 {
				status := C.searchlight_go_write(link, stream, unsafe.Pointer(&part[0]), C.size_t(count))
				if status == C.SEARCHLIGHT_CANCELLED {
					return nil // the receiver has gone
				} else if status != C.SEARCHLIGHT_OK {
					return checked(status, "writing to a stream")
				}
				left -= uint64(count)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		request.host.Log(ErrorReport, "A stream ended early: "+err.Error())
	}
	return nil
}

func (request *Request) finishFile(file ProvidedFile) error {
	if file.File != nil {
		return request.finishOpen(file.File, file.Name)
	}
	var memory arena
	defer memory.free()
	path, remove := memory.text(file.Path), C.int32_t(0)
	if file.RemoveAfter {
		remove = 1
	}
	if memory.problem == nil {
		C.searchlight_go_finish_file(request.host.link, request.number, path, remove)
	}
	return memory.problem
}

func (request *Request) finishPreview(preview Preview) error {
	const maximumAttachments = 256
	if len(preview.Attachments) > maximumAttachments {
		return Errorf(TooLarge, "a preview has at most %d attachments", maximumAttachments)
	}
	var memory arena
	defer memory.free()
	count := len(preview.Attachments)
	pointers := unsafe.Slice((**C.searchlight_attachment)(memory.own(C.calloc(C.size_t(count+1), 8))), count+1)
	for place, attachment := range preview.Attachments {
		raw := (*C.searchlight_attachment)(memory.own(C.calloc(1, C.sizeof_searchlight_attachment)))
		raw.size = C.sizeof_searchlight_attachment
		raw.identifier = memory.text(attachment.Identifier)
		raw.content_type = memory.text(attachment.ContentType)
		raw.bytes = memory.bytes(attachment.Content)
		raw.length = C.size_t(len(attachment.Content))
		pointers[place] = raw
	}
	reply := (*C.searchlight_preview_reply)(memory.own(C.calloc(1, C.sizeof_searchlight_preview_reply)))
	reply.size = C.sizeof_searchlight_preview_reply
	reply.attachment_count = C.uint32_t(count)
	reply.content_type = memory.text(preview.ContentType)
	reply.title = memory.optional(preview.Title)
	reply.bytes = memory.bytes(preview.Content)
	reply.length = C.size_t(len(preview.Content))
	reply.width, reply.height = C.double(preview.Width), C.double(preview.Height)
	reply.attachments = &pointers[0]
	if memory.problem == nil {
		C.searchlight_go_finish_preview(request.host.link, request.number, reply)
	}
	return memory.problem
}

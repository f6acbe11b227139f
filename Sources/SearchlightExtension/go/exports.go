// SPDX-License-Identifier: Apache-2.0

package searchlight

/*
#cgo CFLAGS: -std=gnu11 -I${SRCDIR}/../include -I${SRCDIR}/../../../include
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/cgo"
	"runtime/debug"
	"time"
	"unsafe"
)

// The functions that bridge.c calls. Each runs on a host thread.

// object is this library's extension object together with its host. The host has a handle to it.
type object struct {
	host     *Host
	instance any
}

func objectOf(handle C.uintptr_t) *object { return cgo.Handle(handle).Value().(*object) }

// guarded calls one of the author's functions. A panic becomes an error, and its trace is printed
// to standard error.
func guarded(body func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", reason, debug.Stack())
			err = Errorf(Failed, "panic: %v", reason)
		}
	}()
	return body()
}

//export searchlightCreate
func searchlightCreate(host *C.searchlight_host, handle *C.uintptr_t, message *C.char, capacity C.size_t) C.int32_t {
	made := &object{host: connected(host)}
	err := guarded(func() (err error) {
		switch {
		case made.host.link.request == nil || made.host.link.items == nil || made.host.link.batch == nil:
			return Errorf(Unsupported, "the host lacks requests, items or batches; update Searchlight")
		case registered.create == nil:
			return Errorf(Failed, "no extension is registered; call searchlight.Register in init")
		case registered.identifier != made.host.BundleIdentifier():
			return Errorf(InvalidArgument, "the library registers %s, but CFBundleIdentifier in its Info.plist is %s",
				registered.identifier, made.host.BundleIdentifier())
		}
		made.instance, err = registered.create(made.host)
		if err == nil && made.instance == nil {
			err = Errorf(Failed, "the registered function returned no object")
		}
		return err
	})
	if err != nil {
		buffer := unsafe.Slice((*byte)(unsafe.Pointer(message)), int(capacity))
		length := copy(buffer[:len(buffer)-1], err.Error())
		buffer[length] = 0
		return C.int32_t(statusOf(err))
	}
	*handle = C.uintptr_t(cgo.NewHandle(made))
	return C.SEARCHLIGHT_OK
}

//export searchlightDestroy
func searchlightDestroy(handle C.uintptr_t) { cgo.Handle(handle).Delete() }

// The interfaces in the order of bridge.c.
const (
	reindexInterface = iota
	pagingInterface
	changesInterface
	promisesInterface
	previewInterface
	throttleInterface
)

//export searchlightServes
func searchlightServes(handle C.uintptr_t, number C.int) bool {
	instance, serves := objectOf(handle).instance, false
	switch number {
	case reindexInterface:
		_, serves = instance.(Reindexer)
	case pagingInterface:
		_, serves = instance.(Pager)
	case changesInterface:
		_, serves = instance.(FileUpdater)
	case promisesInterface:
		_, serves = instance.(DataProvider)
		if !serves {
			_, serves = instance.(ContentProvider)
		}
		if !serves {
			_, serves = instance.(FileProvider)
		}
	case previewInterface:
		_, serves = instance.(Previewer)
	case throttleInterface:
		_, serves = instance.(Throttler)
	}
	return serves
}

// answer has one of the author's functions answer a request. If the function succeeds and has a
// result to deliver, it answers the request itself.
func answer(handle C.uintptr_t, number C.uint64_t, body func(*object, *Request) (answered bool, err error)) {
	own := objectOf(handle)
	request := &Request{host: own.host, number: number}
	answered := false
	err := guarded(func() (err error) {
		answered, err = body(own, request)
		return err
	})
	if err != nil {
		request.fail(err)
	} else if !answered {
		request.finish(C.SEARCHLIGHT_OK, nil)
	}
}

//export searchlightReindexAll
func searchlightReindexAll(handle C.uintptr_t, request C.uint64_t) {
	answer(handle, request, func(own *object, request *Request) (bool, error) {
		return false, own.instance.(Reindexer).ReindexAll(request)
	})
}

//export searchlightReindexItems
func searchlightReindexItems(handle C.uintptr_t, request C.uint64_t, identifiers **C.char, count C.size_t) {
	answer(handle, request, func(own *object, request *Request) (bool, error) {
		return false, own.instance.(Reindexer).ReindexItems(request, goTexts(identifiers, count))
	})
}

//export searchlightReindexPage
func searchlightReindexPage(handle C.uintptr_t, request C.uint64_t, page *C.searchlight_page) {
	answer(handle, request, func(own *object, request *Request) (bool, error) {
		wanted := Page{
			MemoryLimit: uint64(page.memory_limit), Items: int(page.items),
			Time: time.Duration(page.milliseconds) * time.Millisecond,
		}
		if page.cursor != nil {
			wanted.Cursor = C.GoBytes(page.cursor, C.int(page.cursor_length))
		}
		next, err := own.instance.(Pager).ReindexPage(request, wanted)
		if err == nil {
			request.finishPage(next)
		}
		return true, err
	})
}

//export searchlightUpdateFiles
func searchlightUpdateFiles(handle C.uintptr_t, request C.uint64_t, changes **C.searchlight_change, count C.size_t) {
	answer(handle, request, func(own *object, request *Request) (bool, error) {
		list := make([]Change, 0, count)
		for _, change := range unsafe.Slice(changes, int(count)) {
			list = append(list, Change{
				Kind: ChangeKind(change.kind), Path: C.GoString(change.path),
				PreviousPath: C.GoString(change.previous_path),
			})
		}
		return false, own.instance.(FileUpdater).UpdateFiles(request, list)
	})
}

//export searchlightProvideData
func searchlightProvideData(handle C.uintptr_t, request C.uint64_t, item, contentType *C.char) {
	answer(handle, request, func(own *object, request *Request) (bool, error) {
		if provider, provides := own.instance.(ContentProvider); provides {
			content, err := provider.ProvideContent(request, C.GoString(item), C.GoString(contentType))
			if err == nil {
				err = request.finishContent(content)
			}
			return true, err
		}
		provider, provides := own.instance.(DataProvider)
		if !provides {
			return false, Errorf(Unsupported, "this extension provides no data")
		}
		data, err := provider.ProvideData(request, C.GoString(item), C.GoString(contentType))
		if err == nil {
			request.finishData(data)
		}
		return true, err
	})
}

//export searchlightProvideFile
func searchlightProvideFile(handle C.uintptr_t, request C.uint64_t, item, contentType *C.char, inPlace C.int32_t) {
	answer(handle, request, func(own *object, request *Request) (bool, error) {
		provider, provides := own.instance.(FileProvider)
		if !provides {
			return false, Errorf(Unsupported, "this extension provides no files")
		}
		file, err := provider.ProvideFile(request, C.GoString(item), C.GoString(contentType), inPlace != 0)
		if err == nil {
			err = request.finishFile(file)
		}
		return true, err
	})
}

//export searchlightPreview
func searchlightPreview(handle C.uintptr_t, request C.uint64_t, item, query, contentPath *C.char) {
	answer(handle, request, func(own *object, request *Request) (bool, error) {
		wanted := PreviewRequest{
			Item: C.GoString(item), Query: C.GoString(query), ContentPath: C.GoString(contentPath),
		}
		preview, err := own.instance.(Previewer).Preview(request, wanted)
		if err == nil {
			err = request.finishPreview(preview)
		}
		return true, err
	})
}

//export searchlightDidThrottle
func searchlightDidThrottle(handle C.uintptr_t, reason C.int32_t, itemsPerSecond C.double) {
	_ = guarded(func() error {
		notice := Throttle{Reason: int32(reason), ItemsPerSecond: float64(itemsPerSecond)}
		objectOf(handle).instance.(Throttler).DidThrottle(notice)
		return nil
	})
}

//export searchlightDidFinishThrottle
func searchlightDidFinishThrottle(handle C.uintptr_t) {
	_ = guarded(func() error {
		objectOf(handle).instance.(Throttler).DidFinishThrottle()
		return nil
	})
}

// outcome is the host's answer to something that was sent.
type outcome struct {
	err   error
	bytes []byte
	texts []string
}

func deliver(context C.uintptr_t, status C.int32_t, message *C.char, answer outcome) {
	if status != C.SEARCHLIGHT_OK {
		answer.err = &Error{Status(status), C.GoString(message)}
	}
	// The channel has room for the one answer.
	cgo.Handle(context).Value().(chan outcome) <- answer
}

//export searchlightCompleted
func searchlightCompleted(context C.uintptr_t, status C.int32_t, message *C.char) {
	deliver(context, status, message, outcome{})
}

//export searchlightStateRead
func searchlightStateRead(context C.uintptr_t, status C.int32_t, message *C.char, state unsafe.Pointer, length C.size_t) {
	answer := outcome{}
	if state != nil {
		answer.bytes = append([]byte{}, unsafe.Slice((*byte)(state), int(length))...)
	}
	deliver(context, status, message, answer)
}

//export searchlightListed
func searchlightListed(context C.uintptr_t, status C.int32_t, message *C.char, identifiers **C.char, count C.size_t) {
	deliver(context, status, message, outcome{texts: goTexts(identifiers, count)})
}

func goTexts(texts **C.char, count C.size_t) []string {
	list := make([]string, 0, count)
	for _, text := range unsafe.Slice(texts, int(count)) {
		list = append(list, C.GoString(text))
	}
	return list
}

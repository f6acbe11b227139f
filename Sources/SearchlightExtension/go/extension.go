// SPDX-License-Identifier: Apache-2.0

// Package searchlight is the kit for extensions of Searchlight in Go, over searchlight_extension.h.
//
// An extension is a package main that is built with -buildmode=c-shared. Its init function
// registers it, and main stays empty:
//
//	type Recipes struct{ host *searchlight.Host }
//
//	func init() {
//		searchlight.Register("com.example.recipes", func(host *searchlight.Host) (any, error) {
//			return &Recipes{host}, nil
//		})
//	}
//
//	func main() {}
//
//	func (recipes *Recipes) ReindexAll(request *searchlight.Request) error {
//		batch := recipes.host.NewBatch()
//		defer batch.Close()
//		batch.RemoveAll()
//		batch.Add(searchlight.Item{
//			Identifier: "pudding", Domain: "desserts", ContentType: "public.plain-text",
//			Attributes: searchlight.Attributes{"title": "Rice pudding"},
//		})
//		return batch.Commit()
//	}
//
// The object implements any of the interfaces Reindexer, Pager, FileUpdater, DataProvider,
// FileProvider, Previewer and Throttler. Each function runs on a thread of the host and may wait.
// Several requests may run at once. An error is the answer of the request; a panic in the function
// is one too. A panic in another goroutine ends the worker.
//
// Texts are UTF-8 without NUL characters.
package searchlight

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Status is the kind of an error.
type Status int32

// The statuses.
const (
	Failed          Status = 1 // any other failure
	Unsupported     Status = 2 // the extension does not serve this type or request
	NotFound        Status = 3 // no such item
	Cancelled       Status = 4 // the request was cancelled
	InvalidArgument Status = 5 // a malformed text or a wrong size
	Unavailable     Status = 6 // the host, the index or the source is not reachable now
	TooLarge        Status = 7 // over a limit that the message names
	Refused         Status = 8 // understood, but not allowed
)

// Error is a failure: a status, and a message with the attempt, the failure and the remedy.
type Error struct {
	Status  Status
	Message string
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an Error.
func Errorf(status Status, format string, arguments ...any) error {
	return &Error{status, fmt.Sprintf(format, arguments...)}
}

// statusOf returns the status of an error: its own, or one for an error of the file system.
func statusOf(err error) Status {
	var own *Error
	var path *fs.PathError
	switch {
	case errors.As(err, &own) && own.Status > 0:
		return own.Status
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.As(err, &path):
		return Unavailable
	}
	return Failed
}

// Reindexer donates items again.
type Reindexer interface {
	// ReindexAll donates all items, and returns once the last donation is durable. Items that are
	// not donated stay, so call Batch.RemoveAll first: the items are found until the reindex ends.
	ReindexAll(request *Request) error
	// ReindexItems donates each of these items again, or removes it.
	ReindexItems(request *Request, identifiers []string) error
}

// Pager donates all items in pages: the way to reindex large collections.
type Pager interface {
	// ReindexPage donates a page. It returns the cursor of the next page (at most 4,096 bytes), or
	// nil after the last. Nothing needs to be removed first.
	ReindexPage(request *Request, page Page) (next []byte, err error)
}

// FileUpdater updates the items of changed files.
type FileUpdater interface {
	// UpdateFiles donates, updates or removes the items of these files, by what each file is now.
	UpdateFiles(request *Request, changes []Change) error
}

// DataProvider fulfils promises with data. The user is waiting.
type DataProvider interface {
	// ProvideData converts an item to data of a type that it promised.
	ProvideData(request *Request, item, contentType string) ([]byte, error)
}

// FileProvider fulfils promises with files.
type FileProvider interface {
	// ProvideFile converts an item to a file of a type that it promised, or to the original.
	ProvideFile(request *Request, item, contentType string, inPlace bool) (ProvidedFile, error)
}

// Previewer renders previews.
type Previewer interface {
	// Preview renders an item. An Error with Unsupported lets the host show attributes.
	Preview(request *Request, wanted PreviewRequest) (Preview, error)
}

// Throttler receives notices of throttling.
type Throttler interface {
	// DidThrottle stops work that is not urgent within half a second.
	DidThrottle(notice Throttle)
	// DidFinishThrottle goes on.
	DidFinishThrottle()
}

// Page has the limits of a page, and where it starts.
type Page struct {
	Cursor      []byte        // nil for the first page
	MemoryLimit uint64        // bytes of memory above which the worker is ended
	Items       int           // the page ends after about this number of items,
	Time        time.Duration // or after this time
}

// ChangeKind is the kind of a change.
type ChangeKind int32

// The kinds of changes. Ignore others.
const (
	FileChanged ChangeKind = 1 // the file is new, or its content or mode has changed
	FileMoved   ChangeKind = 2 // the file has another path, and perhaps another content
	FileRemoved ChangeKind = 3 // there is no file at the path any more
)

// Change is a change of a file.
type Change struct {
	Kind         ChangeKind
	Path         string // absolute
	PreviousPath string // the old path of a moved file, or empty
}

// Paths returns the paths to look at: one, or two of a moved file.
func (change Change) Paths() []string {
	if change.PreviousPath == "" {
		return []string{change.Path}
	}
	return []string{change.PreviousPath, change.Path}
}

// ProvidedFile is a file that fulfils a promise.
type ProvidedFile struct {
	Path        string // absolute
	RemoveAfter bool   // true if the file was created for this request, in $TMPDIR
}

// PreviewRequest names the item to preview.
type PreviewRequest struct {
	Item        string
	Query       string // the user's query, or empty
	ContentPath string // the path of the item's contentURL if that is a file, or empty
}

// Preview is the displayed content of an item.
type Preview struct {
	// ContentType is public.html, public.plain-text, public.rtf, public.png, public.jpeg or
	// com.adobe.pdf.
	ContentType   string
	Content       []byte // at most 32 MiB with the attachments
	Title         string // empty for the item's
	Width, Height float64
	Attachments   []Attachment
}

// Attachment is a part of a preview, to which its HTML refers as cid:IDENTIFIER.
type Attachment struct {
	Identifier  string // letters, digits, '-', '.' and '_'
	ContentType string
	Content     []byte
}

// Throttle is a notice of throttling.
type Throttle struct {
	Reason         int32   // 1 the user is active, 2 battery, 3 pressure, 4 requested
	ItemsPerSecond float64 // the welcome rate of donations; 0 for none at the moment
}

// registered is the extension of this library.
var registered struct {
	identifier string
	create     func(*Host) (any, error)
}

// Register states the bundle identifier of the extension, and the function that creates its one
// object. Call it from init. The function must not wait for the network or the user, and donates
// nothing.
func Register(identifier string, create func(host *Host) (any, error)) {
	registered.identifier, registered.create = identifier, create
}

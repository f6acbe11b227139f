// SPDX-License-Identifier: Apache-2.0

// Package searchlight is the kit for writing Searchlight extensions in Go, based on
// searchlight_extension.h.
//
// An extension is a main package built with -buildmode=c-shared. Its init function registers the
// extension, and its main function stays empty:
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
// FileProvider, Previewer and Throttler. Each function runs on a host thread and may wait. Several
// requests may run at once. If a function returns an error or panics, that becomes the answer to
// the request. A panic in another goroutine ends the worker.
//
// Texts are UTF-8 without NUL characters.
package searchlight

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Status is the kind of an error.
type Status int32

// The statuses.
const (
	Failed          Status = 1 // any other failure
	Unsupported     Status = 2 // the extension does not support this type or request
	NotFound        Status = 3 // no such item
	Cancelled       Status = 4 // the request was cancelled
	InvalidArgument Status = 5 // a malformed text or a wrong size
	Unavailable     Status = 6 // the host, the index or the source is currently unreachable
	TooLarge        Status = 7 // a limit, named in the message, was exceeded
	Refused         Status = 8 // understood, but not allowed
)

// Error is a failure: a status, and a message that states what was attempted, what failed and how
// to fix it.
type Error struct {
	Status  Status
	Message string
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an Error.
func Errorf(status Status, format string, arguments ...any) error {
	return &Error{status, fmt.Sprintf(format, arguments...)}
}

// statusOf returns the status of an error: its own, or a suitable one for a file system error.
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
	// ReindexAll donates all items, and returns once the last donation is durable. Items that are not
	// donated remain, so call Batch.RemoveAll first; the removed items can still be found until the
	// reindex ends.
	ReindexAll(request *Request) error
	// ReindexItems donates each of these items again, or removes it. Items of encrypted indexes are
	// requested here too, while they are unlocked, and without their index and class. So donate each
	// item to the index where it belongs.
	ReindexItems(request *Request, identifiers []string) error
}

// Pager donates all items in pages; use it to reindex large collections.
type Pager interface {
	// ReindexPage donates a page. It returns the cursor of the next page (at most 4,096 bytes), or nil
	// after the last page. Nothing needs to be removed first.
	ReindexPage(request *Request, page Page) (next []byte, err error)
}

// FileUpdater updates the items of changed files.
type FileUpdater interface {
	// UpdateFiles donates, updates or removes the items of these files, according to the current state
	// of each file.
	UpdateFiles(request *Request, changes []Change) error
}

// DataProvider fulfils promises with data. The user is waiting.
type DataProvider interface {
	// ProvideData converts an item to data of a type that the item promised.
	ProvideData(request *Request, item, contentType string) ([]byte, error)
}

// ContentProvider fulfils promises with large data. It is used in place of DataProvider.
type ContentProvider interface {
	// ProvideContent converts an item to data of a type that it promised.
	ProvideContent(request *Request, item, contentType string) (Content, error)
}

// FileProvider fulfils promises with files.
type FileProvider interface {
	// ProvideFile provides an item as a file of a type that the item promised, or provides the
	// original.
	ProvideFile(request *Request, item, contentType string, inPlace bool) (ProvidedFile, error)
}

// Previewer renders previews.
type Previewer interface {
	// Preview renders an item. An Error with Unsupported has the host show the item's attributes.
	Preview(request *Request, wanted PreviewRequest) (Preview, error)
}

// Throttler receives notices of throttling.
type Throttler interface {
	// DidThrottle stops non-urgent work within half a second.
	DidThrottle(notice Throttle)
	// DidFinishThrottle resumes the work.
	DidFinishThrottle()
}

// Page contains the limits of a page, and the cursor at which it starts.
type Page struct {
	Cursor      []byte        // nil for the first page
	MemoryLimit uint64        // in bytes; a worker that exceeds it is terminated
	Items       int           // the page ends after about this number of items,
	Time        time.Duration // or after this time, whichever comes first
}

// ChangeKind is the kind of a change.
type ChangeKind int32

// The kinds of changes. Ignore others.
const (
	FileChanged ChangeKind = 1 // the file is new, or its content or mode has changed
	FileMoved   ChangeKind = 2 // the file has a new path, and its content may also have changed
	FileRemoved ChangeKind = 3 // there is no longer a file at the path
)

// Change is a change of a file. Read the file's current state, because it may have changed again
// since.
type Change struct {
	Kind         ChangeKind
	Path         string // absolute
	PreviousPath string // the old path of a moved file, or empty
}

// Paths returns the paths to examine: one path, or both paths of a moved file.
func (change Change) Paths() []string {
	if change.PreviousPath == "" {
		return []string{change.Path}
	}
	return []string{change.PreviousPath, change.Path}
}

// Content is the data that fulfils a promise: one of Data, File, and Reader with Length.
type Content struct {
	Data   []byte
	File   *os.File  // read from its start, and closed
	Reader io.Reader // read after the answer, without memory for all of it; closed if it is an io.Closer
	Length uint64    // the exact number of bytes of Reader
}

// ProvidedFile is a file that fulfils a promise: Path, or an open File.
type ProvidedFile struct {
	Path        string   // absolute
	RemoveAfter bool     // true if the file was created for this request, in $TMPDIR
	File        *os.File // it needs no path any more, and is closed
	Name        string   // the proposed name of File, or empty
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
	Title         string // empty for the item's own title
	Width, Height float64
	Attachments   []Attachment
}

// Attachment is a part of a preview, referenced in its HTML as cid:IDENTIFIER.
type Attachment struct {
	Identifier  string // letters, digits, '-', '.' and '_'
	ContentType string
	Content     []byte
}

// Throttle is a notice of throttling.
type Throttle struct {
	Reason         int32   // 1 user active, 2 battery, 3 pressure, 4 requested
	ItemsPerSecond float64 // the acceptable rate of donations; 0 for none at the moment
}

// registered is the extension that this library contains.
var registered struct {
	identifier string
	create     func(*Host) (any, error)
}

// Register sets the extension's bundle identifier and the function that creates its only object.
// Call Register from init. The function must not wait for the network or the user, and must not
// donate anything.
func Register(identifier string, create func(host *Host) (any, error)) {
	registered.identifier, registered.create = identifier, create
}

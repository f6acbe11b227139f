// SPDX-License-Identifier: Apache-2.0

// Uses everything of the package searchlight. KitTests.swift calls it; everything.py does the same.
package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"searchlight"
)

type everything struct{ host *searchlight.Host }

func init() {
	searchlight.Register("com.example.everything", func(host *searchlight.Host) (any, error) {
		return &everything{host}, nil
	})
}

func main() {}

func (own *everything) donate(identifiers ...string) error {
	batch := own.host.NewBatch()
	defer batch.Close()
	for _, identifier := range identifiers {
		if err := batch.Add(item(identifier)); err != nil {
			return err
		}
	}
	return batch.Commit()
}

func (own *everything) ReindexPage(request *searchlight.Request, page searchlight.Page) ([]byte, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	request.Report(1, 2)
	if page.Cursor == nil {
		return []byte("second"), own.donate("first")
	}
	return nil, own.donate(string(page.Cursor))
}

func (own *everything) ReindexAll(*searchlight.Request) error {
	return errors.New("a host that asks for pages does not ask for this")
}

func (own *everything) ReindexItems(_ *searchlight.Request, identifiers []string) error {
	return own.donate(identifiers...)
}

func (own *everything) UpdateFiles(_ *searchlight.Request, changes []searchlight.Change) error {
	for _, change := range changes {
		for _, path := range change.Paths() {
			if err := own.donate(fmt.Sprintf("%d %s", change.Kind, path)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (own *everything) ProvideData(_ *searchlight.Request, name, _ string) ([]byte, error) {
	batch := own.host.NewBatch()
	defer batch.Close()
	switch name {
	case "state":
		if err := batch.CommitState("notes", []byte("one"), searchlight.AnyState()); err != nil {
			return nil, err
		}
		var refused *searchlight.Error
		err := batch.CommitState("notes", []byte("two"), searchlight.State([]byte("other")))
		if !errors.As(err, &refused) {
			return nil, fmt.Errorf("the state was accepted: %w", err)
		}
		state, err := own.host.ReadClientState("notes")
		return []byte(fmt.Sprintf("%s %d", state, refused.Status)), err
	case "listing":
		err := first(
			batch.Rename(map[string]string{"first": "renamed"}), batch.Remove("second"),
			batch.RemoveDomains("nothing"), batch.Commit())
		if err != nil {
			return nil, err
		}
		own.host.ReportLeftOut("third", "it is locked")
		list, err := own.host.ListItems(searchlight.DefaultIndex, "", searchlight.MaximumListing)
		return []byte(strings.Join(list, ",")), err
	case "encrypted":
		err := first(own.host.SetClass("health", searchlight.ClassComplete), batch.Add(item("pulse")))
		if err != nil {
			return nil, err
		}
		donated := number(batch.CommitState("health", nil, searchlight.AnyState()))
		list, _ := own.host.ListItems("health", "", 10)
		unnamed := number(own.host.SetClass("", searchlight.ClassComplete))
		long := number(own.host.SetClass(strings.Repeat("x", 4097), searchlight.ClassComplete))
		return []byte(fmt.Sprintf("%d %v %d %d", donated, list, unnamed, long)), nil
	case "printing":
		fmt.Println("printed by the kit")
		return []byte("printed"), nil
	case "refused":
		return nil, searchlight.Errorf(searchlight.Refused, "not today")
	case "missing":
		_, err := os.Open("/usr/share/there-is-none")
		return nil, err
	case "crash":
		panic("a fault of the author")
	case "bad_text":
		return nil, batch.Add(searchlight.Item{
			Identifier: "a", Attributes: searchlight.Attributes{"title": "a\x00b"},
		})
	case "rights":
		return []byte(denied()), nil
	case "where":
		return []byte(own.host.BundleIdentifier() + " " + filepath.Base(own.host.BundlePath())), nil
	}
	return nil, searchlight.Errorf(searchlight.NotFound, "there is no %s", name)
}

// pattern has 1000 bytes of each value.
type pattern struct{ place int }

func (own *pattern) Read(bytes []byte) (int, error) {
	for i := range bytes {
		bytes[i] = byte(own.place / 1000)
		own.place++
	}
	return len(bytes), nil
}

func (own *everything) ProvideContent(
	request *searchlight.Request, name, contentType string,
) (searchlight.Content, error) {
	switch name {
	case "stream":
		return searchlight.Content{Reader: &pattern{}, Length: 300_000}, nil
	case "broken_stream":
		return searchlight.Content{Reader: io.LimitReader(&pattern{}, 5), Length: 300_000}, nil
	case "open_file":
		file, err := os.CreateTemp("", "content")
		if err == nil {
			os.Remove(file.Name())
			_, err = file.WriteString("from a file without a name")
		}
		return searchlight.Content{File: file}, err
	}
	data, err := own.ProvideData(request, name, contentType)
	return searchlight.Content{Data: data}, err
}

func (own *everything) ProvideFile(
	_ *searchlight.Request, name, _ string, inPlace bool,
) (searchlight.ProvidedFile, error) {
	path := filepath.Join(os.Getenv("TMPDIR"), "made.txt")
	truth := "False"
	if inPlace {
		truth = "True"
	}
	err := os.WriteFile(path, []byte(name+" in place: "+truth), 0o600)
	return searchlight.ProvidedFile{Path: path, RemoveAfter: true}, err
}

func (own *everything) Preview(
	_ *searchlight.Request, wanted searchlight.PreviewRequest,
) (searchlight.Preview, error) {
	image, err := hex.DecodeString(png)
	return searchlight.Preview{
		ContentType: "public.html",
		Content:     []byte("<p>" + wanted.Item + " for " + wanted.Query + "</p><img src='cid:dot.png'>"),
		Title:       "Shown", Width: 20, Height: 10,
		Attachments: []searchlight.Attachment{{Identifier: "dot.png", ContentType: "public.png", Content: image}},
	}, err
}

func (own *everything) DidThrottle(notice searchlight.Throttle) {
	own.host.Log(searchlight.Info, fmt.Sprintf("throttled to %g", notice.ItemsPerSecond))
}

func (own *everything) DidFinishThrottle() { own.host.Log(searchlight.Warning, "not throttled") }

const png = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489" +
	"0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"

func item(identifier string) searchlight.Item {
	return searchlight.Item{
		Identifier: identifier, Domain: "things", ContentType: "public.text",
		Attributes: searchlight.Attributes{
			"title": "Title of " + identifier, "keywords": []string{"one", "two"}, "pageCount": 7, "rating": 4.5,
			"com_example_open": true, "contentCreationDate": time.UnixMilli(1_000_500),
			"com_example_bytes": []byte{0, 1}, "com_example_flavour": "cardamom",
		},
		Traits:  map[string]searchlight.Traits{"com_example_flavour": searchlight.Searchable | searchlight.SearchableByDefault},
		Expires: time.Unix(4e9, 0),
	}
}

func first(results ...error) error {
	for _, err := range results {
		if err != nil {
			return err
		}
	}
	return nil
}

// number returns the status of an error, or 0.
func number(err error) searchlight.Status {
	var failure *searchlight.Error
	if errors.As(err, &failure) {
		return failure.Status
	}
	return 0
}

// denied returns the names of the attempts that failed.
func denied() string {
	foreign := "/root"
	if _, err := os.Stat(foreign); err != nil {
		foreign = "/home"
	}
	attempts := []struct {
		name string
		body func() error
	}{
		{"program", func() error { return exec.Command("/bin/true").Run() }},
		{"connection", func() error { _, err := net.Dial("tcp", "127.0.0.1:9"); return err }},
		{"foreign_file", func() error { _, err := os.ReadDir(foreign); return err }},
		{"executable_memory", func() error {
			protection := syscall.PROT_READ | syscall.PROT_WRITE | syscall.PROT_EXEC
			_, err := syscall.Mmap(-1, 0, 4096, protection, syscall.MAP_PRIVATE|syscall.MAP_ANON)
			return err
		}},
	}
	var names []string
	for _, attempt := range attempts {
		if attempt.body() != nil {
			names = append(names, attempt.name)
		}
	}
	return strings.Join(names, ",")
}

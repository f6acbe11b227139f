// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import TestSupport
import Testing
import UniformTypeIdentifiers

@testable import Promises

@Suite("Receiver profiles", .timeLimit(.minutes(10)))
struct ReceiverProfileTests {
    private static func problem(_ text: String, name: String = "mine") -> String? {
        do {
            _ = try ReceiverProfile(Data(text.utf8), name: name, path: "/p/mine.json")
            return nil
        } catch { return error.description }
    }

    @Test("Shipped profiles are readable, and accept declared types only")
    func shipped() throws {
        #expect(ReceiverProfile.shipped.count == ReceiverProfile.shippedFiles.count)
        #expect(ReceiverProfile.shipped.count == 7)
        for profile in ReceiverProfile.shipped {
            #expect(profile.accepts.allSatisfy { UTType($0) != nil }, "\(profile)")
            #expect(!profile.title.isEmpty && !profile.takes.isEmpty)
        }
    }

    @Test(
        "An error in a profile is reported precisely",
        arguments: [
            ("[]", "not an object"), ("{", "it is not valid JSON: no key in quotes at byte 2"),
            (#"{"accepts": "x"}"#, "“accepts” must be a list of strings"),
            ("{}", "“accepts” is missing"), (#"{"accepts": []}"#, "“accepts” has 0 entries"),
            (#"{"accepts": ["a", "A"]}"#, #"“accepts” has "A" twice"#),
            (#"{"accepts": ["a b"]}"#, #""a b" in “accepts” is neither a type identifier"#),
            (#"{"accepts": ["html"]}"#, #""html" in “accepts” is neither a type identifier, such as public.html"#),
            (#"{"accepts": [""]}"#, #""" in “accepts” is neither a type identifier"#),
            (#"{"accepts": ["text/nonsense"]}"#, #"No type is declared for "text/nonsense" in “accepts”"#),
            (#"{"accepts": [".nonsense9"]}"#, #"No type is declared for ".nonsense9" in “accepts”"#),
            (#"{"accepts": ["/"]}"#, #"No type is declared for "/" in “accepts”"#),
            (#"{"accepts": ["."]}"#, #"No type is declared for "." in “accepts”"#),
            (#"{"accepts": ["public.png"], "takes": ["links"]}"#, #"“takes” has "links""#),
            (#"{"accepts": ["public.png"], "order": 3}"#, "“order” must be “preference” or “set”"),
            (#"{"accepts": ["public.png"], "acepts": 1}"#, #"it has the unknown key "acepts""#),
            (#"{"accepts": ["public.png"], "title": ""}"#, "its title has 0 characters"),
            (#"{"accepts": ["public.png"], "accepts": []}"#, "it has the key “accepts” twice"),
            (#"{"accepts": ["public.png"], "title": 1}"#, "“title” must be a string"),
        ])
    func problems(text: String, reason: String) {
        let found = Self.problem(text)
        #expect(found?.contains(reason) == true, "\(found ?? "none")")
        #expect(found?.contains("/p/mine.json") == true)
    }

    @Test("MIME types and file name extensions become their types, each once")
    func tags() throws {
        let text = #"{"accepts": ["text/html; charset=utf-8", ".html", ".PNG", "com.example.own", "public.html"]}"#
        let profile = try ReceiverProfile(Data(text.utf8), name: "mine", path: nil)
        #expect(profile.accepts == ["public.html", "public.png", "com.example.own"])
    }

    @Test("A name that could be a path, and a file that is too large, are rejected")
    func bounds() {
        for name in ["", "../x", "A", "a b", "-x", String(repeating: "a", count: 65)] {
            #expect(Self.problem(#"{"accepts": ["a"]}"#, name: name)?.contains("its name") == true)
        }
        #expect(Self.problem(String(repeating: " ", count: 70_000))?.contains("the limit is 65536") == true)
    }

    @Test(
        "The folder of the user's profiles does not depend on an empty or relative variable", arguments: ["", "here"])
    func place(value: String) {
        let folder = ReceiverProfiles.folder(environment: ["HOME": "/home/ada", "XDG_CONFIG_HOME": value])
        #expect(folder == "/home/ada/.config/searchlight/receivers")
    }

    @Test("The user's profiles replace those with their name, and invalid ones hide no valid one")
    func own() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(#"{"accepts": ["public.png"], "takes": ["file"], "order": "set"}"#.utf8), to: "browser.json")
        try folder.write(Array("{}".utf8), to: "bad.json")
        try folder.write(Array(#"{"accepts": ["public.png"]}"#.utf8), to: "ignored.txt")
        try FileManager.default.createDirectory(atPath: folder.path("folder.json"), withIntermediateDirectories: false)
        let profiles = ReceiverProfiles(folder: folder.path)
        #expect(profiles.profiles.count == 7)
        #expect(profiles["browser"]?.accepts == ["public.png"])
        #expect(profiles["browser"]?.takes == [.file])
        #expect(profiles["browser"]?.order == .source)
        #expect(profiles["browser"]?.path == folder.path("browser.json"))
        #expect(profiles.problems.map(\.path) == [folder.path("bad.json"), folder.path("folder.json")])
        for name in [".hidden", "mine.json~"] { try folder.write([], to: name) }
        #expect(ReceiverProfiles(folder: folder.path).others == ["ignored.txt"])
        #expect(ReceiverProfiles(folder: folder.path("no")).problems.isEmpty)
    }

    @Test(
        "Each profile gets what an app of its kind would get",
        arguments: [
            ("plain-text-editor", "public.utf8-plain-text", Representation.Form.data),
            ("rich-text-editor", "public.rtf", .file), ("mail-composer", "public.html", .data),
            ("image-editor", "public.png", .inPlaceFile), ("browser", "public.html", .data),
            ("file-manager", "public.rtf", .file), ("terminal", "public.utf8-plain-text", .data),
        ])
    func choices(name: String, type: String, form: Representation.Form) throws {
        func list(_ types: String...) -> AttributeValue { .array(types.map(AttributeValue.string)) }
        let item = ItemRecord(
            uniqueIdentifier: "one",
            attributes: [
                "providerDataTypeIdentifiers": list("public.html", "public.utf8-plain-text"),
                "providerFileTypeIdentifiers": list("public.rtf"),
                "providerInPlaceFileTypeIdentifiers": list("public.png"),
            ])
        let profile = try #require(ReceiverProfile.shipped.first { $0.name == name })
        let resolution = PromiseResolution(
            item, accepted: profile.accepts, preferring: profile.order, forms: profile.takes)
        #expect(resolution.choice == Representation(type: type, form: form))
    }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import UniformTypeIdentifiers

/// Most tests have their own registry. Tests with the shared one use their own identifiers and
/// withdraw them.
@Suite("Types of extensions")
struct RegistryTests {
    static func registry(_ bundles: [String: [UTTypeDeclaration]]) -> UTTypeRegistry {
        let registry = UTTypeRegistry()
        for (bundle, declarations) in bundles.sorted(by: { $0.key < $1.key }) {
            registry.register(declarations, ofBundle: bundle)
        }
        return registry
    }

    @Test("A declared type has its properties, tags and closure until it is withdrawn")
    func lifeOfAType() throws {
        let registry = UTTypeRegistry()
        let diagnostics = registry.register(
            [
                .init(
                    identifier: "com.Example.Note", conformsTo: ["public.plain-text", "net.daringfireball.markdown"],
                    tags: [.filenameExtension: ["xnote", "XN"], .mimeType: ["Text/X-Note"]],
                    localizedDescription: "Example note", version: 3, referenceURL: "https://example.com/note"),
                .init(identifier: "com.example.diary", conformsTo: ["com.example.NOTE"], kind: .imported),
            ], ofBundle: "com.example")
        #expect(diagnostics.isEmpty)
        let snapshot = registry.snapshot
        #expect(snapshot.diagnostics.isEmpty)
        let note = try #require(snapshot.type("com.example.note"))
        let diary = try #require(snapshot.type("COM.example.diary"))
        let markdown = try #require(UTType("net.daringfireball.markdown"))
        #expect(snapshot.conforms(diary, to: note) && !snapshot.conforms(note, to: diary))
        #expect(snapshot.conforms(diary, to: .text) && snapshot.conforms(diary, to: markdown))
        #expect(!snapshot.conforms(diary, to: .image) && !snapshot.conforms(.text, to: note))
        #expect(snapshot.supertypes(of: diary).contains(note) && !snapshot.supertypes(of: diary).contains(diary))
        #expect(snapshot.tags(of: note) == [.filenameExtension: ["xnote", "XN"], .mimeType: ["text/x-note"]])
        #expect(snapshot.types(tag: "xn", tagClass: .filenameExtension, conformingTo: .data) == [note])
        #expect(snapshot.types(tag: "TEXT/x-note", tagClass: .mimeType, conformingTo: nil) == [note])
        #expect(snapshot.localizedDescription(of: diary) == "Example note")
        #expect(snapshot.declaration(of: note)?.version == 3)
        #expect(snapshot.children(of: note) == [diary])
        #expect(snapshot.parents(of: note).map(\.identifier) == ["public.plain-text", "net.daringfireball.markdown"])
        // Other registries, and earlier snapshots, do not contain the type.
        #expect(UTType("com.example.note") == nil)

        #expect(registry.withdraw(bundle: "com.example") && !registry.withdraw(bundle: "com.example"))
        #expect(registry.snapshot.type("com.example.note") == nil)
        #expect(registry.snapshot.generation == 0)
        #expect(!registry.snapshot.conforms(diary, to: .text) && registry.snapshot.conforms(diary, to: diary))
        #expect(snapshot.conforms(diary, to: note))
    }

    @Test("UTType follows the shared registry, even in earlier values")
    func sharedRegistry() throws {
        let before = UTType(exportedAs: "org.searchlight.test.shared", conformingTo: .image)
        let dynamic = try #require(UTType(filenameExtension: "slshared"))
        #expect(before.conforms(to: .image) && !before.isDeclared && dynamic.isDynamic)
        UTTypeRegistry.shared.register(
            [
                .init(
                    identifier: "org.searchlight.test.shared", conformsTo: ["public.json"],
                    tags: [.filenameExtension: ["slshared"]], version: 7, referenceURL: "https://example.com/")
            ], ofBundle: "org.searchlight.test")
        let after = try #require(UTType("org.searchlight.test.shared"))
        for type in [before, after] {
            #expect(type.isDeclared && type.conforms(to: .json) && type.conforms(to: .text))
            #expect(!type.conforms(to: .image) && type.version == 7)
            #expect(type.referenceURL == URL(string: "https://example.com/"))
            #expect(type.preferredFilenameExtension == "slshared")
        }
        #expect(before == after && before.hashValue == after.hashValue)
        #expect(UTType(filenameExtension: "SLshared") == after)
        // A dynamic type is determined by its identifier.
        #expect(dynamic.conforms(to: .data) && !dynamic.conforms(to: .json))
        #expect(UTType(importedAs: "org.searchlight.test.shared") == after)
        #expect(UTTypeResolver.choose(offered: [before], accepted: [.image, .json])?.acceptedIndex == 1)
        UTTypeRegistry.shared.withdraw(bundle: "org.searchlight.test")
        #expect(UTType("org.searchlight.test.shared") == nil)
        #expect(before.conforms(to: .image) && !after.conforms(to: .json) && !after.isDeclared)
    }

    @Test("An exported declaration wins over imported ones, then the version, then the youngest")
    func precedence() throws {
        let registry = RegistryTests.registry([
            "a": [.init(identifier: "com.x.t", conformsTo: ["public.text"], version: 9, kind: .imported)],
            "b": [.init(identifier: "com.x.t", conformsTo: ["public.image"], version: 1)],
            "c": [.init(identifier: "com.x.t", conformsTo: ["public.audio"], version: 2)],
            "d": [.init(identifier: "com.x.t", conformsTo: ["public.movie"], version: 2)],
        ])
        let type = try #require(registry.snapshot.type("com.x.t"))
        #expect(registry.snapshot.parents(of: type) == [.movie])
        #expect(
            registry.snapshot.inactiveDeclarations(of: type).map(\.conformsTo) == [
                ["public.audio"], ["public.image"], ["public.text"],
            ])
        #expect(
            registry.snapshot.diagnostics == [
                .notInForce("com.x.t", bundle: "c", winner: "d"), .notInForce("com.x.t", bundle: "b", winner: "d"),
            ])
        registry.withdraw(bundle: "d")
        #expect(registry.snapshot.parents(of: type) == [.audio])
        registry.withdraw(bundle: "c")
        registry.withdraw(bundle: "b")
        #expect(registry.snapshot.parents(of: type) == [.text])
    }

    @Test("The core's exported types stay; imported ones are replaced by an exporter")
    func coreTypes() throws {
        let document = try #require(UTType("com.microsoft.word.doc"))
        #expect(document.conforms(to: .compositeContent))
        let registry = RegistryTests.registry([
            "office": [
                .init(identifier: "com.microsoft.word.doc", conformsTo: ["public.data"], tags: [.mimeType: ["a/b"]]),
                .init(identifier: "com.apple.rtfd", conformsTo: ["public.image"]),
            ],
            "reader": [.init(identifier: "com.microsoft.word.doc", conformsTo: ["public.text"], kind: .imported)],
        ])
        let snapshot = registry.snapshot
        #expect(snapshot.conforms(document, to: .data) && !snapshot.conforms(document, to: .compositeContent))
        #expect(snapshot.tags(of: document) == [.mimeType: ["a/b"]])
        #expect(!snapshot.types(tag: "doc", tagClass: .filenameExtension, conformingTo: nil).contains(document))
        #expect(snapshot.types(tag: "A/B", tagClass: .mimeType, conformingTo: nil) == [document])
        #expect(snapshot.conforms(.rtfd, to: .compositeContent) && !snapshot.conforms(.rtfd, to: .image))
        #expect(snapshot.diagnostics == [.notInForce("com.apple.rtfd", bundle: "office", winner: nil)])
        #expect(document.conforms(to: .compositeContent))
    }

    @Test("Core types below a replaced one move with it, and back")
    func descendantsOfReplacedTypes() throws {
        let registry = UTTypeRegistry()
        let (parent, child) = try #require(Self.importedParentAndChild())
        let root = UTType(exportedAs: "org.searchlight.test.root")
        registry.register(
            [.init(identifier: parent.identifier, conformsTo: [root.identifier])],
            ofBundle: "org.searchlight.test.moved")
        let moved = registry.snapshot
        for type in [parent, child] {
            #expect(moved.conforms(type, to: parent) && moved.conforms(type, to: root))
            #expect(moved.supertypes(of: type).contains(root))
            guard case .core(let core) = type.storage else { continue }
            // The condition that `UTType` checks before it uses the table.
            #expect(registry.overrides(core))
        }
        #expect(!moved.conforms(parent, to: .data))
        registry.withdraw(bundle: "org.searchlight.test.moved")
        #expect(registry.snapshot.conforms(child, to: parent) && !registry.snapshot.conforms(child, to: root))
        for core in 0..<CoreIndex(CoreTable.shared.count) { #expect(!registry.overrides(core)) }
    }

    /// Returns a core type that is only imported and has a core type below it.
    static func importedParentAndChild() -> (UTType, UTType)? {
        let table = CoreTable.shared
        for parent in table.columnTypes where table.origins[Int(parent)] == .coreImported {
            let children = (0..<CoreIndex(table.count)).filter { table.parents(of: $0).contains(parent) }
            if let child = children.first { return (UTType(core: parent), UTType(core: child)) }
        }
        return nil
    }

    @Test("Tags of extensions rank behind the core's and exported before imported")
    func tagOrder() {
        let registry = RegistryTests.registry([
            "a": [
                .init(
                    identifier: "com.x.imported", conformsTo: ["public.data"],
                    tags: [.filenameExtension: ["png", "qq"]], kind: .imported),
                .init(identifier: "com.x.folder", conformsTo: ["public.directory"], tags: [.filenameExtension: ["qq"]]),
            ],
            "b": [.init(identifier: "com.x.exported", conformsTo: ["public.data"], tags: [.filenameExtension: ["qq"]])],
        ])
        let types = { (tag: String, parent: UTType?) in
            registry.snapshot.types(tag: tag, tagClass: .filenameExtension, conformingTo: parent).map(\.identifier)
        }
        #expect(types("png", .data) == ["public.png", "com.x.imported"])
        #expect(types("qq", .data) == ["com.x.exported", "com.x.imported"])
        #expect(types("qq", nil) == ["com.x.folder", "com.x.exported", "com.x.imported"])
        #expect(types("qq", .directory) == ["com.x.folder"])
    }

    @Test("Each fault of a declaration is named, and only the faulty part is left out")
    func faults() {
        let registry = UTTypeRegistry()
        let diagnostics = registry.register(
            [
                .init(identifier: "com.x/y"), .init(identifier: "public.mine"), .init(identifier: "dyn.age80s52"),
                .init(identifier: ""), .init(identifier: "public.png", kind: .imported),
                .init(
                    identifier: "com.x.ok", conformsTo: ["public.data", "PUBLIC.data", "a b"],
                    tags: [
                        .filenameExtension: [".bad", "good", "", "g\0"], .mimeType: ["a/b"],
                        UTTagClass(rawValue: "com.example.unknown"): ["x"],
                    ]),
                .init(identifier: "COM.X.OK", conformsTo: ["public.image"]),
            ], ofBundle: "b")
        #expect(
            diagnostics == [
                .illegalIdentifier("com.x/y", bundle: "b"), .reservedIdentifier("public.mine", bundle: "b"),
                .dynamicIdentifier("dyn.age80s52", bundle: "b"), .illegalIdentifier("", bundle: "b"),
                .illegalParent("a b", identifier: "com.x.ok"),
                .illegalTag(".bad", tagClass: .filenameExtension, identifier: "com.x.ok"),
                .illegalTag("", tagClass: .filenameExtension, identifier: "com.x.ok"),
                .illegalTag("g\0", tagClass: .filenameExtension, identifier: "com.x.ok"),
                .duplicate("com.x.ok", bundle: "b"),
            ])
        let snapshot = registry.snapshot
        #expect(snapshot.type("com.x.ok").map(snapshot.tags) == [.filenameExtension: ["good"], .mimeType: ["a/b"]])
        #expect(snapshot.type("com.x.ok").map(snapshot.parents) == [.data])
        for diagnostic in diagnostics { #expect(!diagnostic.description.isEmpty) }
    }

    @Test("Cycles, undeclared parents and types without a physical root are named")
    func faultsTogether() throws {
        let registry = RegistryTests.registry([
            "b": [
                .init(identifier: "com.x.a", conformsTo: ["com.x.b"]),
                .init(identifier: "com.x.b", conformsTo: ["com.x.c"]),
                .init(identifier: "com.x.c", conformsTo: ["com.x.a", "public.data"]),
                .init(identifier: "com.x.self", conformsTo: ["com.x.self", "public.data"]),
                .init(identifier: "com.x.orphan", conformsTo: ["com.nobody.has", "public.content"]),
            ]
        ])
        let snapshot = registry.snapshot
        #expect(
            snapshot.diagnostics == [
                .cycle(["com.x.a", "com.x.b", "com.x.c", "com.x.a"]), .cycle(["com.x.self", "com.x.self"]),
                .undeclaredParent("com.nobody.has", identifier: "com.x.orphan"), .neverOfAFile("com.x.orphan"),
            ])
        let orphan = try #require(snapshot.type("com.x.orphan"))
        #expect(snapshot.conforms(orphan, to: UTType(exportedAs: "com.nobody.has")))
        for name in ["com.x.a", "com.x.b", "com.x.c"] {
            #expect(snapshot.conforms(try #require(snapshot.type(name)), to: .data))
        }
        #expect(snapshot.localizedDescription(of: orphan) == "content")
    }

    @Test("A property list is read as it is, and each unreadable part is named")
    func propertyLists() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>UTExportedTypeDeclarations</key><array>
            <dict><key>UTTypeIdentifier</key><string>com.x.note</string>
            <key>UTTypeConformsTo</key><string>public.text</string><key>UTTypeDescription</key><string>Note</string>
            <key>UTTypeVersion</key><integer>4</integer><key>UTTypeReferenceURL</key><string>https://x.com</string>
            <key>UTTypeIconFiles</key><array/><key>UTTypeTagSpecification</key><dict>
            <key>public.filename-extension</key><array><string>xnote</string><string>xn</string></array>
            <key>public.mime-type</key><string>text/x-note</string><key>com.example.other</key><integer>1</integer>
            </dict></dict>
            <dict><key>UTTypeDescription</key><string>nameless</string></dict><string>no dictionary</string>
            <dict><key>UTTypeIdentifier</key><string>com.x.odd</string><key>UTTypeConformsTo</key><integer>3</integer>
            <key>UTTypeVersion</key><string>five</string><key>UTTypeTagSpecification</key><array/></dict>
            </array><key>UTImportedTypeDeclarations</key><string>none</string></dict></plist>
            """
        let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        let (declarations, diagnostics) = UTTypeDeclaration.declarations(
            in: try #require(list as? [String: Any]), ofBundle: "b")
        #expect(
            declarations == [
                .init(
                    identifier: "com.x.note", conformsTo: ["public.text"],
                    tags: [.filenameExtension: ["xnote", "xn"], .mimeType: ["text/x-note"]],
                    localizedDescription: "Note", version: 4, referenceURL: "https://x.com"),
                .init(identifier: "com.x.odd"),
            ])
        let key = "UTExportedTypeDeclarations"
        #expect(
            diagnostics == [
                .missingIdentifier(key: key, position: 1, bundle: "b"),
                .notADictionary(key: key, position: 2, bundle: "b"),
                .unreadableValue(key: "UTTypeConformsTo", identifier: "com.x.odd"),
                .unreadableValue(key: "UTTypeTagSpecification", identifier: "com.x.odd"),
                .unreadableValue(key: "UTTypeVersion", identifier: "com.x.odd"),
                .notAList(key: "UTImportedTypeDeclarations", bundle: "b"),
            ])
    }

    @Test("Random graphs agree with a plain walk", arguments: 0..<30 as Range<UInt64>)
    func randomGraphs(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let core = (0..<6).map { _ in
            CoreTable.shared.identifier(CoreIndex.random(in: 0..<CoreIndex(CoreTable.shared.count), using: &random))
        }
        let names = (0..<12).map { "com.x.t\($0)" }
        // Types conform only to later names, so that the simple walk needs no rule for cycles.
        let declarations = names.enumerated().map { index, name in
            let above = Array(names[(index + 1)...]) + core + ["com.nobody.n1", "public.data"]
            return UTTypeDeclaration(
                identifier: name,
                conformsTo: (0..<Int.random(in: 0...3, using: &random)).map { _ in above.randomElement(using: &random)!
                })
        }
        let snapshot = RegistryTests.registry(["b": declarations.shuffled(using: &random)]).snapshot
        #expect(!snapshot.diagnostics.contains { if case .cycle = $0 { true } else { false } })
        let parents = Dictionary(uniqueKeysWithValues: declarations.map { ($0.identifier, $0.conformsTo) })
        for name in names {
            var above: Set<String> = []
            var waiting = parents[name] ?? []
            while let next = waiting.popLast() {
                guard above.insert(next).inserted else { continue }
                waiting += parents[next] ?? TypeFacts.shared.byIdentifier[next]?.parents ?? []
            }
            let type = snapshot.typeOrName(name)
            #expect(Set(snapshot.supertypes(of: type).map(\.identifier)) == above)
            for other in names + core + ["com.nobody.n1", "public.item", "public.image"] {
                let conforms = snapshot.conforms(type, to: snapshot.typeOrName(other))
                #expect(conforms == (other == name || above.contains(other)), "\(name) \(other)")
            }
        }
    }

    @Test("Random declarations never crash and leave the core alone", arguments: 0..<30 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pieces = [
            "com.x.a", "com.x.b", "com.x.c", "public.data", "public.x", "dyn.age80s52", "dyn.", "", "é.x", "a b", "\0",
            "com.microsoft.word.doc", "com.microsoft.excel.xls", "COM.X.A", String(repeating: "n", count: 2000),
        ]
        func value(_ depth: Int) -> Any {
            switch Int.random(in: 0...(depth > 3 ? 3 : 6), using: &random) {
            case 0: Int.random(in: -5...5, using: &random)
            case 1, 2: pieces.randomElement(using: &random)!
            case 3: 1.5
            case 4: (0..<3).map { _ in value(depth + 1) }
            case 5: declaration(depth + 1)
            default: (0..<3).map { _ in pieces.randomElement(using: &random)! }
            }
        }
        func declaration(_ depth: Int) -> [String: Any] {
            var result: [String: Any] = [:]
            for key in [
                "UTTypeIdentifier", "UTTypeConformsTo", "UTTypeTagSpecification", "UTTypeVersion", "UTTypeDescription",
            ] {
                if Int.random(in: 0...4, using: &random) > 0 { result[key] = value(depth) }
            }
            if Bool.random(using: &random) { result["UTTypeIdentifier"] = pieces.randomElement(using: &random)! }
            if Bool.random(using: &random) { result["public.filename-extension"] = value(depth) }
            return result
        }
        for _ in 0..<30 {
            let (declarations, _) = UTTypeDeclaration.declarations(
                in: [
                    "UTExportedTypeDeclarations": (0..<6).map { _ in declaration(0) },
                    "UTImportedTypeDeclarations": Bool.random(using: &random) ? value(0) : [declaration(0)],
                ], ofBundle: "fuzz")
            let registry = RegistryTests.registry(["fuzz": declarations])
            let snapshot = registry.snapshot
            for type in snapshot.active.keys.map({ snapshot.typeOrName($0) }) {
                #expect(snapshot.conforms(type, to: type))
                #expect(!snapshot.supertypes(of: type).contains(type))
                _ = snapshot.localizedDescription(of: type)
            }
            #expect(snapshot.conforms(.png, to: .image))
        }
    }

    @Test("Long chains of types are resolved without a deep stack")
    func longChains() throws {
        let registry = UTTypeRegistry()
        for bundle in 0..<4 {
            registry.register(
                (0..<250).map { index in
                    let number = bundle * 250 + index
                    return .init(
                        identifier: "com.x.n\(number)",
                        conformsTo: [number == 999 ? "public.data" : "com.x.n\(number + 1)"])
                }, ofBundle: "b\(bundle)")
        }
        let first = try #require(registry.snapshot.type("com.x.n0"))
        #expect(registry.snapshot.conforms(first, to: .item))
        #expect(registry.snapshot.supertypes(of: first).count == 999 + 2)
        #expect(registry.snapshot.distance(from: first, to: .data) == 1000)
        #expect(registry.snapshot.localizedDescription(of: first) == "data")
    }

    @Test("Readers see complete registrations during changes")
    func concurrency() async {
        let registry = UTTypeRegistry()
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for round in 0..<100 {
                        let declarations: [UTTypeDeclaration] = [
                            .init(identifier: "com.w\(writer).a", conformsTo: ["com.w\(writer).b"]),
                            .init(
                                identifier: "com.w\(writer).b",
                                conformsTo: [round % 2 == 0 ? "public.text" : "public.image"]),
                        ]
                        registry.register(declarations, ofBundle: "w\(writer)")
                        if round % 5 == 0 { registry.withdraw(bundle: "w\(writer)") }
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for round in 0..<300 {
                        let snapshot = registry.snapshot
                        let name = "com.w\(round % 2)"
                        guard let low = snapshot.type(name + ".a") else { continue }
                        // Either both types exist or neither, and exactly one of the two parents.
                        #expect(snapshot.type(name + ".b") != nil)
                        #expect(snapshot.conforms(low, to: .text) != snapshot.conforms(low, to: .image))
                        #expect(snapshot.conforms(low, to: .content))
                    }
                }
            }
        }
        #expect(registry.bundles == ["w0", "w1"])
    }
}

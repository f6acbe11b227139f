// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UniformTypeIdentifiers

@Suite("The core table")
struct CoreTableTests {
    let facts = TypeFacts.shared
    let table = CoreTable.shared

    @Test("The facts are complete")
    func factsAreComplete() {
        #expect(facts.rows.count == 981)
        #expect(table.count == facts.rows.count)
        #expect(facts.rows.filter { !$0.swiftName.isEmpty }.count == 140)
    }

    @Test("Every parent exists")
    func parentsExist() {
        for row in facts.rows {
            for parent in row.parents { #expect(facts.byIdentifier[parent] != nil, "\(row.identifier): \(parent)") }
        }
    }

    @Test("No type conforms to itself through others")
    func noCycles() {
        for row in facts.rows { #expect(!facts.ancestors(of: row.identifier).contains(row.identifier)) }
    }

    @Test("All parents fit into the columns of a closure row")
    func columnsSuffice() {
        let parents = Set(facts.rows.flatMap(\.parents))
        #expect(table.columnTypes.count == parents.count)
        #expect(parents.count < Int(CoreTable.noColumn))
    }

    @Test("All pairs of types agree with a closure computed from the facts")
    func closureAgrees() {
        var differing: [String] = []
        for (index, row) in facts.rows.enumerated() {
            let ancestors = facts.ancestors(of: row.identifier)
            for (other, otherRow) in facts.rows.enumerated() {
                let expected = index == other || ancestors.contains(otherRow.identifier)
                if table.conforms(CoreIndex(index), to: CoreIndex(other)) != expected {
                    differing.append("\(row.identifier) \(otherRow.identifier)")
                }
            }
        }
        #expect(differing.isEmpty)
    }

    @Test("Each type has the identifier, parents, tags and description of the facts")
    func rowsAgree() throws {
        for (index, row) in facts.rows.enumerated() {
            let type = try #require(UTType(row.identifier))
            #expect(type == UTType(core: CoreIndex(index)))
            #expect(type.identifier == row.identifier)
            #expect(table.parents(of: CoreIndex(index)).map(table.identifier) == row.parents)
            #expect(type.tags[.filenameExtension] ?? [] == row.filenameExtensions)
            #expect(type.tags[.mimeType] ?? [] == row.mimeTypes)
            #expect(type.preferredFilenameExtension == row.filenameExtensions.first)
            #expect(type.preferredMIMEType == row.mimeTypes.first)
            #expect(type.localizedDescription == row.localizedDescription)
            #expect(Set(type.supertypes.map(\.identifier)) == facts.ancestors(of: row.identifier))
            #expect(type.isDeclared && !type.isDynamic && type.version == nil && type.referenceURL == nil)
            #expect(type.isPublic == row.identifier.hasPrefix("public."))
        }
    }

    @Test("Every tag finds a type with the tag")
    func tagsAreFound() {
        for row in facts.rows {
            for tag in row.filenameExtensions {
                let types = UTType.types(tag: tag.uppercased(), tagClass: .filenameExtension, conformingTo: nil)
                #expect(types.map(\.identifier).contains(row.identifier), "\(tag)")
            }
            for tag in row.mimeTypes {
                let types = UTType.types(tag: tag.uppercased(), tagClass: .mimeType, conformingTo: nil)
                #expect(types.map(\.identifier).contains(row.identifier), "\(tag)")
            }
        }
    }

    @Test("The table takes at most 400 KB")
    func footprint() {
        let text = table.text.sections.reduce(0) { $0 + $1.bytes.count } + table.text.fieldStarts.count * 4
        let types = table.origins.count + (table.parents.count + table.parentStarts.count) * 2
        let closure = table.columns.count + table.columnTypes.count * 2 + table.closure.count * 8
        let tags = table.tags.count * MemoryLayout<CoreTag>.stride
        let slots = (table.identifierSlots.count + table.tagSlots.count) * 2
        let bytes = text + types + closure + tags + slots
        #expect(bytes <= 400_000)
        #expect(bytes >= 100_000)
    }

    @Test("Each constant has the row with its Swift name")
    func constantsAgree() throws {
        let source = try TypeFacts.text(of: "Sources/UniformTypeIdentifiers/Table/UTType+Constants.swift")
        var names: Set<Substring> = []
        for match in source.matches(of: /static var `?(\w+)`?: UTType { UTType\(core: (\d+)\) }/) {
            let index = try #require(Int(match.2))
            #expect(facts.rows[index].swiftName == match.1)
            names.insert(match.1)
        }
        #expect(names.count == 140)
    }

    @Test("Constants have their names' types")
    func constants() {
        #expect(UTType.png.identifier == "public.png")
        #expect(UTType.threeDContent.identifier == "public.3d-content")
        #expect(UTType.internetShortcut.identifier == "com.microsoft.internet-shortcut")
        #expect(UTType.url.identifier == "public.url")
        #expect(UTType.pkcs12.identifier == "com.rsa.pkcs-12")
    }
}

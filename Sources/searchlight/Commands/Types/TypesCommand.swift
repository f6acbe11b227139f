// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import UniformTypeIdentifiers

struct TypesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "types",
        abstract: "Look up uniform types of the system and of extensions.",
        subcommands: [
            TypesShowCommand.self, TypesConformsCommand.self, TypesLookupCommand.self, TypesDecodeCommand.self,
            TypesOfCommand.self, TypesTreeCommand.self,
        ])
}

/// Returns the type with an identifier. Throws an error with a message if there is none.
func declaredType(_ identifier: String) throws -> UTType {
    guard let type = UTType(identifier) else {
        throw CommandFailure(
            message: """
                No type \(identifier.debugDescription) is declared. To find one by file name extension or MIME type: \
                searchlight types lookup pdf
                """, status: .notFound)
    }
    return type
}

/// Calls a closure for each line of standard input, without line breaks.
func forEachInputLine(_ body: (_ line: String, _ number: Int) throws -> Void) rethrows {
    var number = 0
    while let line = readLine(strippingNewline: true) {
        number += 1
        try body(line.hasSuffix("\r") ? String(line.dropLast()) : line, number)
    }
}

struct TypesShowCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the declaration of a type.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The identifier of the type, declared or dynamic.")
    var identifier: String

    func perform() async throws {
        options.registerTypes()
        let report = TypeReport(try declaredType(identifier))
        if options.json { return try Output.printJSON(report) }
        try show(report)
    }

    private func show(_ report: TypeReport) throws {
        try Output.line("\(bold: report.identifier)")
        var lines: [(String, String?)] = [
            ("description", report.description),
            ("state", report.isDynamic ? "dynamic" : report.declaration ?? "declared"),
            ("parents", joined(report.parents)), ("supertypes", joined(report.supertypes)),
            ("children", joined(report.children)),
        ]
        lines += report.tags.sorted { $0.key < $1.key }.map { ($0.key, joined($0.value)) }
        if let url = report.referenceURL { lines.append(("reference", url)) }
        let width = lines.map(\.0.count).max() ?? 0
        for (name, value) in lines {
            guard let value else { continue }
            try Output.line("  \(dim: name.padding(toLength: width, withPad: " ", startingAt: 0))  \(value)")
        }
    }

    private func joined(_ texts: [String]) -> String? { texts.isEmpty ? nil : texts.joined(separator: ", ") }
}

struct TypesConformsCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "conforms",
        abstract: "Check whether a type conforms to another type.",
        discussion: "Prints true or false; the exit status is 0 or 1. An undeclared type conforms only to itself."
    )

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The type that may conform.")
    var type: String?
    @Argument(help: "The type it may conform to.")
    var other: String?
    @Flag(help: "Read pairs from standard input, separated by a tab, and print true or false for each line.")
    var stdin = false

    func validate() throws {
        guard stdin == (type == nil), stdin == (other == nil) else {
            throw ValidationError("Name two types, or pass --stdin without types.")
        }
    }

    func perform() async throws {
        options.registerTypes()
        guard let type, let other else { return try answerInput() }
        let answer = Self.conforms(type, other)
        if options.json { try Output.printJSON(["conforms": answer]) } else { try Output.line("\(answer)") }
        if !answer { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    private func answerInput() throws {
        try forEachInputLine { line, number in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            if parts.count != 2 { Output.fail("line \(number) does not have two types, separated by a tab") }
            try Output.line("\(parts.count == 2 && Self.conforms(String(parts[0]), String(parts[1])))")
        }
    }

    private static func conforms(_ type: String, _ other: String) -> Bool {
        guard let first = UTType(type), let second = UTType(other) else {
            return type.lowercased() == other.lowercased() && !type.isEmpty
        }
        return first.conforms(to: second)
    }
}

struct TypesDecodeCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Decode a dynamic identifier (dyn.…).")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The dynamic identifier.")
    var identifier: String

    func perform() async throws {
        guard let dynamic = DynamicTypeIdentifier(identifier) else {
            throw CommandFailure(
                message: "\(identifier.debugDescription) is not a dynamic identifier, which begins with “dyn.a”.",
                status: .failure)
        }
        if options.json {
            let tags = dynamic.tags.map { ["tagClass": $0.tagClass.rawValue, "value": $0.value] }
            return try Output.printJSON(
                [
                    "identifier": dynamic.identifier, "decoded": dynamic.description, "parent": dynamic.parent,
                    "tags": tags,
                ] as JSONObject)
        }
        try Output.line("\(dynamic.description)")
        if let parent = dynamic.parent { try Output.line("  \(dim: "conforms to")  \(parent)") }
        for tag in dynamic.tags { try Output.line("  \(dim: tag.tagClass.rawValue)  \(tag.value)") }
    }
}

/// A type as JSON.
struct TypeReport: Encodable {
    var identifier: String
    var description: String?
    var isDynamic: Bool
    var isPublic: Bool
    var declaration: String?
    var parents: [String]
    var supertypes: [String]
    var children: [String]
    var tags: [String: [String]]
    var preferredFilenameExtension: String?
    var preferredMIMEType: String?
    var referenceURL: String?

    init(_ type: UTType) {
        let snapshot = UTTypeRegistry.shared.snapshot
        identifier = type.identifier
        description = type.localizedDescription
        isDynamic = type.isDynamic
        isPublic = type.isPublic
        declaration = snapshot.declaration(of: type).map { $0.kind.rawValue }
        parents = snapshot.parents(of: type).map(\.identifier)
        supertypes = type.supertypes.map(\.identifier).sorted()
        children = snapshot.children(of: type).map(\.identifier).sorted()
        tags = Dictionary(uniqueKeysWithValues: type.tags.map { ($0.key.rawValue, $0.value) })
        preferredFilenameExtension = type.preferredFilenameExtension
        preferredMIMEType = type.preferredMIMEType
        referenceURL = type.referenceURL?.absoluteString
    }
}

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Previews
import Promises
import SearchIndex
import SearchlightEngine

struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show an item as its extension renders it.",
        discussion: """
            Prints text. What the extension renders as a page or a picture is printed or written as it is with --html \
            or --output; without a rendering of its extension's, an item is shown by its attributes.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ItemChoice
    @Option(name: .shortAndLong, help: "Words to highlight.")
    var query: String?
    @Flag(help: "Print the rendering as HTML.")
    var html = false
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the rendering to a file; - is standard output.", valueName: "file"))
    var output: String?

    func validate() throws {
        guard output?.isEmpty != true else {
            throw ValidationError("--output is empty. Name a file, or - for standard output.")
        }
    }

    func run() async throws {
        try await reportingErrors(json: options.json && output != "-") {
            try await options.withStore(.read) { store in try await preview(store) }
        }
    }

    private func preview(_ store: any StoreService) async throws {
        let item = try await choice.find(in: store)
        // Before the extension is asked, a folder is refused; the type is known only after.
        if let output { _ = try OutputChoice(output, for: item, as: nil) }
        let preview = try await store.preview(of: item, query: query)
        try await explainSource(preview, of: item, store)
        if let output { return try save(preview, of: item, to: output) }
        if options.json { return try Output.printJSON(PreviewReport(preview)) }
        let text = String(decoding: preview.content, as: UTF8.self)
        if html {
            guard preview.contentType == "public.html" else {
                throw CommandFailure(
                    message: "The extension renders this item as \(preview.contentType); --output FILE keeps that.",
                    status: .unsupportedType)
            }
            return try Output.document(text)
        }
        if preview.source == .extension, preview.contentType.hasSuffix("plain-text") {
            return try Output.line("\(text: text)")
        }
        try Output.line(StyledText(AttributePreview(item.record, query: query).textPieces))
        if preview.source == .extension, Output.showsProgress {
            Output.complain("\n\(dim: "The extension renders this as \(preview.contentType): --output FILE keeps it.")")
        }
    }

    /// Says on standard error why a person does not see what the extension renders. In JSON the report says it.
    private func explainSource(_ preview: Preview, of item: StoredItem, _ store: any StoreService)
        async throws(EngineError)
    {
        guard preview.source == .attributes, !options.json || output != nil else { return }
        if let problem = preview.problem {
            Output.fail("The item is shown by its attributes. " + problem)
        } else if try await store.extensions().identifiers.contains(item.scope.bundle) {
            Output.complain("\(item.scope.bundle) does not render this item; it is shown by its attributes.")
        } else {
            Output.complain("No extension \(item.scope.bundle) is installed; the item is shown by its attributes.")
        }
    }

    private func save(_ preview: Preview, of item: StoredItem, to output: String) throws {
        let target = try OutputChoice(output, for: item, as: preview.contentType)
        let bytes: UInt64
        do throws(PromiseError) {
            bytes = try Delivery.deliver(
                .inline(preview.content), to: target.destination, token: .random(in: .min ... .max))
        } catch {
            throw target.failure(error)
        }
        guard let path = target.path else { return }
        if options.json {
            try Output.printJSON(DropReport(path: path, type: preview.contentType, bytes: bytes))
        } else {
            try Output.line("\(path): \(counted(Int(clamping: bytes), "byte")) of \(preview.contentType)")
        }
    }
}

private struct PreviewReport: Encodable {
    var title: String
    var contentType: String
    var source: String
    var problem: String?
    var text: String?
    var base64: String?

    init(_ preview: Preview) {
        title = preview.title
        contentType = preview.contentType
        source = preview.source.rawValue
        problem = preview.problem
        if let text = String(validating: preview.content, as: UTF8.self) {
            self.text = text
        } else {
            base64 = Data(preview.content).base64EncodedString()
        }
    }
}

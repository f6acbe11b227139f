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
            Prints text: what the extension renders as plain text, else the item's attributes. --html prints the page that a \
            viewer shows, and --output writes the rendering as it is: HTML, text, rich text, a picture or PDF. HTML of an \
            extension loses what runs, loads or leads elsewhere by itself; --json names what was removed.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ItemChoice
    @Option(name: .shortAndLong, help: "Words to highlight.")
    var query: String?
    @Flag(help: "Print the rendering as HTML.")
    var html = false
    @Flag(help: "Print text, which is what is printed without --html, --json and --output.")
    var text = false
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the rendering to a file; - is standard output.", valueName: "file"))
    var output: String?

    func validate() throws {
        guard output?.isEmpty != true else {
            throw ValidationError("--output is empty. Name a file, or - for standard output.")
        }
        guard !text || !(html || options.json || output != nil) else {
            throw ValidationError("--text goes with neither --html, --json nor --output. Choose one of them.")
        }
        guard output != "-" || !options.json else {
            throw ValidationError(
                "With --output - standard output gets the rendering alone. Leave out --json, or name a file.")
        }
        guard !html || !options.json else {
            throw ValidationError("--html and --json exclude each other; with --json the page is in “text”.")
        }
    }

    func run() async throws {
        try await reportingErrors(json: options.json) {
            try await options.withStore(.read) { store in try await preview(store) }
        }
    }

    private func preview(_ store: any StoreService) async throws {
        let item = try await choice.find(in: store)
        // Before the extension is asked, a folder is refused; the type is known only after.
        if let output { _ = try OutputChoice(output, for: item, as: nil) }
        let preview = try await store.preview(of: item, query: query)
        try await explainSource(preview, of: item, store)
        if html || output != nil, !options.json { explainRemovals(preview) }
        if let output { return try save(preview, of: item, to: output) }
        if options.json { return try Output.printJSON(PreviewReport(preview, of: item, query: query)) }
        let text = String(decoding: preview.content, as: UTF8.self)
        if html {
            guard preview.contentType == "public.html" else {
                throw CommandFailure(
                    message: "The extension renders this item as \(preview.contentType); --output FILE keeps that.",
                    status: .unsupportedType)
            }
            return try Output.document(text)
        }
        let width = Output.columns
        if preview.source == .extension, preview.contentType.hasSuffix("plain-text") {
            let pieces = Highlighter(query: query).textPieces(of: DisplayText.safe(text))
            return try Output.line(StyledText(TextWrapping.wrapped(pieces, width: width)))
        }
        try Output.line(StyledText(AttributePreview(item.record, query: query).textPieces(width: width)))
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

    private func explainRemovals(_ preview: Preview) {
        guard let summary = Removal.summary(of: preview.removals) else { return }
        Output.complain("Removed from what the extension renders: \(summary). --json has an example of each.")
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

/// A preview as JSON. Its keys stay.
private struct PreviewReport: Encodable {
    var title: String
    var contentType: String
    var source: String
    var problem: String?
    var width: Double?
    var height: Double?
    /// What was taken out of what the extension rendered.
    var removed: [Removal]
    var text: String?
    var base64: String?
    /// What the item's attributes say, if it is shown by them.
    var attributes: Attributes?

    struct Attributes: Encodable {
        var facts: [Fact]
        var description: String?
        var text: String?
        /// The parts of the text that were searched for.
        var found: [String]
        var thumbnail: Picture?
        var thumbnailProblem: String?
    }

    struct Fact: Encodable {
        var name: String
        var value: String
    }

    struct Picture: Encodable {
        var contentType: String
        var width: Int
        var height: Int
        var bytes: Int
    }

    init(_ preview: Preview, of item: StoredItem, query: String?) {
        title = preview.title
        contentType = preview.contentType
        source = preview.source.rawValue
        problem = preview.problem
        (width, height) = (preview.size?.width, preview.size?.height)
        removed = preview.removals
        if let text = String(validating: preview.content, as: UTF8.self) {
            self.text = text
        } else {
            base64 = Data(preview.content).base64EncodedString()
        }
        if preview.source == .attributes { attributes = Attributes(item, query) }
    }
}

extension PreviewReport.Attributes {
    init(_ item: StoredItem, _ query: String?) {
        let preview = AttributePreview(item.record, query: query)
        facts = preview.facts.map { PreviewReport.Fact(name: $0.name, value: $0.value) }
        description = preview.description
        text = preview.content
        var seen: Set<String> = []
        found = [preview.title, preview.description, preview.content].compactMap(\.self)
            .flatMap { Highlighter(query: query).pieces(of: $0) }
            .filter(\.isHighlight).map { String($0.text) }.filter { seen.insert($0).inserted }
        guard let reference = item.record.thumbnailReference else { return }
        do throws(Thumbnail.Problem) {
            let read = try Thumbnail.read(reference)
            thumbnail = PreviewReport.Picture(
                contentType: read.header.type.identifier, width: read.header.width, height: read.header.height,
                bytes: read.bytes.count)
        } catch {
            thumbnailProblem = error.description
        }
    }
}

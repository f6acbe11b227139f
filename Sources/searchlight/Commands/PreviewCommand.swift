// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Previews
import Promises
import SearchIndex
import SearchlightEngine

struct PreviewCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show the preview of an item, rendered by its extension.",
        discussion: """
            Prints the extension's text or HTML as plain text, or else the item's attributes. --html prints the page that a \
            viewer shows, and --output writes the rendering unchanged: HTML, text, rich text, a picture or PDF. In a folder \
            the file gets a new name after the item's title; no existing file is replaced. Scripts, external resources and \
            automatic redirects are removed from HTML; --json names the removed parts. A list (-) shows one item after the \
            other, in JSON as an array.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ItemChoice
    @Option(
        name: .shortAndLong,
        help: "Highlight the words of this search, and rank a single item higher in later searches for them.")
    var query: String?
    @Flag(help: "Print the rendering as HTML.")
    var html = false
    @Flag(help: "Print text. This is the default without --html, --json and --output.")
    var text = false
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the rendering to a file, or into a folder; - is standard output.", valueName: "path"),
        completion: .file())
    var output: String?

    func validate() throws {
        if let problem = query.flatMap(SearchText.lengthProblem) { throw ValidationError(problem) }
        guard output?.isEmpty != true else {
            throw ValidationError("--output is empty. Name a file or a folder, or - for standard output.")
        }
        guard !text || !(html || options.json || output != nil) else {
            throw ValidationError("--text excludes --html, --json and --output. Choose one of them.")
        }
        guard output != "-" || !options.json else {
            throw ValidationError(
                "--output - and --json both write to standard output. Leave out --json, or name a file.")
        }
        guard !html || !options.json else {
            throw ValidationError("--html and --json exclude each other; with --json the page is in “text”.")
        }
    }

    func perform() async throws {
        let names = try ItemNames([choice.item])
        if names.names.count > 1 {
            guard !html || output != nil else {
                throw CommandFailure(
                    message: "--html prints one page. For several items, pass --output FOLDER.", status: .usage)
            }
            if let output { try OutputChoice.checkForSeveral(output) }
        }
        try await options.withStore(.read) { store in try await preview(names, store) }
    }

    private func preview(_ names: ItemNames, _ store: any EngineClient) async throws {
        let found = try await names.find(bundle: choice.bundle, index: choice.index, in: store)
        var (reports, status): ([JSONObject], ExitStatus?) = ([], nil)
        for (number, (name, result)) in found.enumerated() {
            switch result {
            case .success(let item):
                let preview = try await store.preview(of: item, query: query)
                try await explainSource(preview, of: item, store)
                if options.json, output == nil {
                    reports.append(JSONObject(preview, of: item, query: query))
                    continue
                }
                if number > 0, output == nil { try Output.line("") }
                try show(preview, of: item)
            case .failure(let error):
                Output.fail("\(name): \(error.description)")
                status = status ?? ExitStatus(error)
            }
        }
        if options.json, output == nil {
            // A list of items is reported as a JSON array.
            if names.source == nil, let report = reports.first {
                try Output.printJSON(report)
            } else {
                try Output.printJSON(reports)
            }
        }
        // Only a preview of a single item is counted as a use by the user; a list usually comes
        // from a program.
        if let query, found.count == 1, case .success(let item) = found[0].result {
            await store.count(.init(item: item.number, text: query, kind: .preview))
        }
        if let status { throw ExitCode(status.rawValue) }
    }

    private func show(_ preview: Preview, of item: StoredItem) throws {
        if html || output != nil, !options.json { explainRemovals(preview) }
        if let output { return try save(preview, of: item, to: output) }
        let text = String(decoding: preview.content, as: UTF8.self)
        if html {
            guard preview.contentType == "public.html" else {
                throw CommandFailure(
                    message:
                        "The extension renders this item as \(preview.contentType). To save the rendering, pass --output FILE.",
                    status: .unsupportedType)
            }
            return try Output.document(text)
        }
        let width = Output.columns
        if preview.source == .extension, preview.contentType.hasSuffix("plain-text") {
            let pieces = Highlighter(query: query).textPieces(of: DisplayText.safe(text))
            return try Output.line(StyledText(TextWrapping.wrapped(pieces, width: width)))
        }
        if preview.source == .extension, preview.contentType == "public.html" {
            let page = PageText(preview.content, width: width)
            if page.hasWords { return try show(page, title: preview.title) }
        }
        try Output.line(StyledText(AttributePreview(item.record, query: query).textPieces(width: width)))
        if preview.source == .extension, Output.showsProgress {
            Output.complain(
                "\n\(dim: "The extension renders this as \(preview.contentType). To save the rendering, pass --output FILE.")"
            )
        }
    }

    private func show(_ page: PageText, title: String) throws {
        // Adds the title if the page has no heading.
        let firstLine = page.pieces.lazy.map(\.text).joined().prefix { $0 != "\n" }
        if !page.hasHeading, DisplayText.line(String(firstLine)) != title {
            try Output.line("\(bold: title)")
            let width = min(Output.columns ?? 72, 72, max(1, TextWidth.of(title)))
            try Output.line("\(dim: String(repeating: "─", count: width))\n")
        }
        try Output.line(StyledText(page.pieces))
        if page.isCut {
            Output.complain(
                "\(dim: "The text is cut. To print the whole page, pass --html; to save it, pass --output FILE.")")
        }
    }

    /// Reports on standard error why the preview was not rendered by the extension. With --json,
    /// the JSON object contains the reason instead.
    private func explainSource(_ preview: Preview, of item: StoredItem, _ store: any EngineClient)
        async throws(EngineError)
    {
        guard preview.source == .attributes, !options.json || output != nil else { return }
        if let problem = preview.problem {
            Output.fail("The item is shown by its attributes. " + problem)
        } else if try await store.perform(ExtensionsCall()).identifiers.contains(item.scope.bundle) {
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
        let target = OutputChoice(output, for: item, as: preview.contentType)
        let report: DeliveryReport
        do throws(PromiseError) {
            report = try Delivery.deliver(
                .data(.inline(preview.content)), to: target.destination, token: .random(in: .min ... .max))
        } catch {
            throw target.failure(error)
        }
        guard let path = report.path ?? target.path else { return }
        if options.json {
            try Output.printJSON(["path": path, "type": preview.contentType, "bytes": report.bytes] as JSONObject)
        } else {
            try Output.line("\(path): \(counted(Int(clamping: report.bytes), "byte")) of \(preview.contentType)")
        }
    }
}

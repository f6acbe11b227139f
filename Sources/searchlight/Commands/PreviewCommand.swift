// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import ServiceProtocol

struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show an item as its extension renders it.",
        discussion: """
            Prints text. What the extension renders as a page or a picture is printed or written as it is with --html
            or --output; without a rendering of its extension's, an item is shown by its attributes.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ItemChoice
    @Option(name: .shortAndLong, help: "Words to highlight.")
    var query: String?
    @Flag(help: "Print the rendering as HTML.")
    var html = false
    @Option(name: .shortAndLong, help: ArgumentHelp("Write the rendering to a file.", valueName: "file"))
    var output: String?

    func run() async throws {
        try await searchlight.run(json: options.json) {
            let engine = try options.engine(.readOnly)
            do {
                try await preview(engine)
            } catch {
                await engine.close()
                throw error
            }
            await engine.close()
        }
    }

    private func preview(_ engine: SearchlightEngine) async throws {
        let item = try await engine.item(named: choice.item, bundle: choice.bundle)
        let preview = try await engine.preview(of: item, query: query)
        if options.json { return try Output.printJSON(PreviewReport(preview)) }
        if let problem = preview.problem {
            Output.complain("searchlight: The extension did not render it. \(problem)")
        }
        if let output {
            return try save(preview, to: absolute(output))
        }
        let text = String(decoding: preview.content, as: UTF8.self)
        if html {
            guard preview.contentType == "public.html" else {
                throw ValidationError(
                    "The extension renders this item as \(preview.contentType); use --output FILE to keep that.")
            }
            return Output.write(text, to: STDOUT_FILENO)
        }
        if preview.source == .extension, preview.contentType.hasSuffix("plain-text") {
            return print(DisplayText.safe(text))
        }
        print(AttributePreview(item.record, query: query).text { Output.found($0) })
        if preview.source == .extension, Output.showsProgress {
            Output.complain(
                Output.dim("\nThe extension renders this as \(preview.contentType): --output FILE keeps it."))
        }
    }

    private func save(_ preview: Preview, to path: String) throws {
        do throws(PromiseError) {
            let bytes = try Delivery.deliver(
                .inline(preview.content), to: .file(path: path), token: .random(in: .min ... .max))
            print("\(path): \(bytes) bytes of \(preview.contentType)")
        } catch {
            throw EngineError.promise(error)
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

// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import TestSupport
import Testing

@testable import ExtensionValidation

/// Extensions without code pass the same checks.
@Suite("The validator and bindings", .timeLimit(.minutes(10)))
struct BindingValidationTests {
    /// An extension that finds a folder's text files and copies their text with a C library
    /// function that returns an owned copy. `ownership` selects the declared owner.
    private func harness(_ ownership: String) throws -> (Harness, String) {
        let harness = try Harness()
        let folder = harness.folder + "/Sheets"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["one", "two", "three"] {
            let text = String(repeating: "\(name) ", count: 240_000)
            try Data(text.utf8).write(to: URL(filePath: folder + "/\(name).txt"))
        }
        let bindings = [
            """
            serve files "~/Sheets"
            library "libc.so.6"
            call nftw(dirpath: text = request.path,
                fn: donate(file: text, _: pointer, flag: int, _: pointer) -> int = 0
                    when flag == 0 and suffix(file) == "txt"
                    { identifier = file, title = name(file), contentURL = url(file), contentType = "public.plain-text",
                      providerDataTypeIdentifiers = ["public.utf8-plain-text"] },
                nopenfd: int = 16, flags: int = 1) -> status: int succeeds status == 0
            """,
            """
            serve data public.utf8-plain-text of public.plain-text
            library "libc.so.6"
            call strdup(text: text = text(item.contents)) -> copy: \(ownership) text
            result copy
            """,
        ]
        let bundle = try harness.install(
            "com.example.bound", library: nil,
            manifest: [
                "CFBundleExecutable": nil as Any?,
                "Searchlight": ["ReadablePaths": ["~/Sheets"], "SymbolBindings": bindings],
            ])
        return (harness, bundle)
    }

    @Test("pass all checks if owned values are freed")
    func good() async throws {
        let (harness, bundle) = try harness("owned(free)")
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        #expect(report.problems == [])
        #expect(try report.result(.goneItems) == .passed)
        if ValidationCheck.judgeable.contains(.memoryGrowth) { #expect(try report.result(.memoryGrowth) == .passed) }
    }

    @Test(
        "whose function returns a value that is never freed report memory of the library",
        .enabled(if: Sanitizer.current == nil))
    func leaking() async throws {
        let (harness, bundle) = try harness("borrowed")
        let result = try await harness.validate(bundle, [.memoryGrowth]).result(.memoryGrowth)
        #expect(result.kind == .failed, "\(result)")
        #expect(result.reason?.contains("The libraries that it calls keep") == true, "\(result)")
        #expect(result.advice?.contains("owned(FUNCTION)") == true)
    }
}

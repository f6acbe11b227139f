// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import Testing

/// A broken extension, the request to it, and the expected outcome.
struct BrokenExtension: Sendable, CustomTestStringConvertible {
    /// The form of the extension's code.
    enum Code: Sendable {
        /// A source in Tests/Fixtures/Extensions/Broken, compiled with definitions.
        case c(String, [String])
        /// A principal class in Tests/Fixtures/SwiftExtensions.
        case swift(String)
        /// A file that is not a library for this machine.
        case bytes([UInt8])
        /// A good library with a faulty file.
        case misplaced(Misplacement)
    }

    /// A fault in the file of a good library.
    enum Misplacement: Sendable { case missing, linked, writableByAll, folder }

    /// The request to the extension.
    enum Request: String, Sendable, CaseIterable {
        case reindexAll, reindexItems, data, file, preview, throttle, endThrottle
        /// A data request that the caller abandons after the extension has reported it.
        case cancelledData

        var isReindex: Bool { self == .reindexAll || self == .reindexItems }
    }

    /// The name of the test, which describes the fault.
    var name: String
    var code: Code
    var request: Request
    var outcome: BrokenOutcome
    /// The number of the extension's items afterwards.
    var items: ClosedRange<Int>
    /// `true` if the extension is unusable from its start, so that no earlier request reaches it.
    var isUnusable: Bool
    /// `true` if only the host's limits terminate the extension. The limits are shortened for it.
    var hangs: Bool

    var testDescription: String { name }
    /// The identifier with which the extension is installed.
    var bundle: String { "com.example.broken" }

    init(
        _ name: String, _ code: Code, asked request: Request = .reindexAll, items: ClosedRange<Int>? = nil,
        isUnusable: Bool = false, hangs: Bool = false, _ outcome: BrokenOutcome
    ) {
        self.name = name
        self.code = code
        self.request = request
        self.outcome = outcome
        self.isUnusable = isUnusable || outcome.isOfLoading
        self.hangs = hangs || outcome.isEndedAtLimit
        self.items = items ?? (self.isUnusable || (request == .reindexAll && !outcome.works) ? 0...0 : 1...1)
    }

    /// Creates an extension that calls a function of faults.h in one callback and works otherwise.
    init(
        _ fault: String, in place: String, asked request: Request = .reindexAll, paged: Bool = false,
        items: ClosedRange<Int>? = nil, isUnusable: Bool = false, hangs: Bool = false, _ outcome: BrokenOutcome
    ) {
        self.init(
            "\(fault) in \(place)\(paged ? " of pages" : "")",
            .c("in-callback", ["FAULT=fault_\(fault)", "PLACE=IN_\(place.uppercased())"] + (paged ? ["PAGED"] : [])),
            asked: request, items: items, isUnusable: isUnusable, hangs: hangs, outcome)
    }

    /// Creates an extension with one of the faults of a source.
    init(
        _ source: String, way: String, asked request: Request = .reindexAll, items: ClosedRange<Int>? = nil,
        _ outcome: BrokenOutcome
    ) {
        self.init("\(source): \(way)", .c(source, ["WAY=\(way)"]), asked: request, items: items, outcome)
    }

    /// Installs the bundle in the extensions folder.
    func install(in harness: Harness, as identifier: String? = nil) throws {
        let identifier = identifier ?? bundle
        switch code {
        case .c(let source, let definitions):
            // The peak memory of a process starts with its parent's peak, and the tests together
            // use much memory.
            let memory = 3 << 30
            var manifest: [String: Any?] = [:]
            if case .takesTooMuchMemory = outcome { manifest["Searchlight"] = ["MemoryLimit": memory] }
            try harness.install(
                identifier, library: try CFixture.library("Broken/" + source, definitions), manifest: manifest)
        case .swift(let name):
            try harness.install(
                identifier, library: try SwiftFixture.library(), principalClass: "\(SwiftFixture.module).\(name)")
        case .bytes(let bytes):
            let folder = try harness.install(identifier, library: nil)
            try Data(bytes).write(to: URL(filePath: folder + "/library.so"))
        case .misplaced(let misplacement):
            let good = try CFixture.library("ledger")
            let folder = try harness.install(identifier, library: misplacement == .writableByAll ? good : nil)
            let (path, files) = (folder + "/library.so", FileManager.default)
            switch misplacement {
            case .missing: break
            case .linked: try files.createSymbolicLink(atPath: path, withDestinationPath: good)
            case .writableByAll: try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
            case .folder: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        }
    }
}

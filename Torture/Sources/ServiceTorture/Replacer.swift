// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Foundation
import TestSupport

/// Replaces extensions while they are in use: each time with a complete folder in one step, with a
/// different version number, and sometimes with a broken extension.
final class Replacer {
    /// The kinds of new versions.
    private enum Way: CaseIterable {
        /// A good version. It has several cases, so that it is chosen more often than the others.
        case good, alsoGood, goodAgain, alsoGoodAgain
        case crashes, cutLibrary, noLibrary, noise, noManifest, otherIdentifier
        /// A good version, after a moment during which the extension is absent.
        case absent
    }

    private let place: TorturePlace
    private let report: TortureReport
    private var random: SplitMix64
    private var number = 1

    /// Each bundle's current version, and the name that its code answers with.
    private(set) var current: [String: (version: String, answer: String)] = [:]

    init(_ place: TorturePlace, _ report: TortureReport, seed: UInt64) {
        (self.place, self.report) = (place, report)
        random = SplitMix64(seed: seed)
    }

    /// Replaces a random extension in a random way.
    func replaceOne() throws {
        try replace(random.pick(TorturePlace.replaced), Way.allCases[random.below(Way.allCases.count)])
    }

    /// Installs a good version of each extension.
    func makeGood() throws { for bundle in TorturePlace.replaced { try replace(bundle, .good) } }

    private func replace(_ bundle: String, _ way: Way) throws {
        number += 1
        let answer = random.pick(TorturePlace.versions)
        let files = FileManager.default
        let path = place.extensions + "/\(bundle).searchext"
        let new = place.folder + "/replacement"
        try? files.removeItem(atPath: new)
        try files.createDirectory(atPath: new, withIntermediateDirectories: true)
        let identifier = way == .otherIdentifier ? "org.example.somebody-else" : bundle
        let manifest: [String: Any] = [
            "CFBundleIdentifier": identifier, "CFBundleVersion": "\(number)", "CFBundleExecutable": "library.so",
            "NSExtension": ["NSExtensionPointIdentifier": "com.apple.spotlight.index"],
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: manifest, format: .xml, options: 0)
        try (way == .noManifest ? data.prefix(data.count / 2) : data).write(to: URL(filePath: new + "/Info.plist"))
        let library = try Data(contentsOf: URL(filePath: place.version(way == .crashes ? "crash" : answer)))
        switch way {
        case .noLibrary: break
        case .cutLibrary: try library.prefix(random.below(library.count)).write(to: URL(filePath: new + "/library.so"))
        case .noise:
            let noise = Data((0..<4096).map { _ in UInt8(random.below(256)) })
            try noise.write(to: URL(filePath: new + "/library.so"))
        default: try library.write(to: URL(filePath: new + "/library.so"))
        }
        if way == .absent { try files.moveItem(atPath: path, toPath: place.folder + "/absent") }
        if files.fileExists(atPath: path) {
            let code = ctestsupport_exchange(new, path)
            guard code == 0 else { throw TortureProblem("exchanging \(path): \(String(cString: strerror(code)))") }
            try files.removeItem(atPath: new)
        } else {
            try files.moveItem(atPath: new, toPath: path)
        }
        try? files.removeItem(atPath: place.folder + "/absent")
        current[bundle] = (version: "\(number)", answer: answer)
        report.count("replacements")
        switch way {
        case .good, .alsoGood, .goodAgain, .alsoGoodAgain, .absent: break
        default: report.count("replacements by broken ones")
        }
    }
}

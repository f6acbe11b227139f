// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord

/// An item that a user knows by name: a package or a manual page on this machine.
struct KnownItem {
    enum Kind: String {
        case package, manual

        /// The identifier of the bundle that donates items of this kind.
        var bundle: String { "com.example.\(rawValue)s" }
    }

    var kind: Kind
    var name: String
    /// The section of a manual page, for example `1` for commands.
    var section = ""
    /// The description, in one line.
    var summary: String
    /// Additional text; may be empty.
    var text = ""

    /// The identifier within the bundle. It differs from the name, so that a search can find the
    /// item only by its title.
    var identifier: String { "\(kind.rawValue)/\(name)/\(section)" }

    var encoded: EncodedItem {
        get throws {
            var attributes: [String: AttributeValue] = [
                "title": .string(name), "contentDescription": .string(summary),
            ]
            if !text.isEmpty { attributes["textContent"] = .string(text) }
            return try EncodedItem(
                ItemRecord(
                    uniqueIdentifier: identifier, domainIdentifier: nil, expiration: .never, attributes: attributes))
        }
    }
}

/// Lists the packages and manual pages on this machine.
enum KnownItems {
    private static let packageState = "/var/lib/dpkg/status"
    private static let programFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/games"]

    /// Returns the packages in apt's lists and the installed packages, without duplicates, sorted
    /// by name.
    static func packages() throws -> [KnownItem] {
        var found: [String: KnownItem] = [:]
        // Both lists have the same format. Only installed packages have long descriptions on every
        // machine.
        let lists = output(["apt-cache", "dumpavail"])
        let installed = FileManager.default.contents(atPath: packageState) ?? Data()
        for data in [lists, installed] {
            for item in packages(in: data) where item.text.utf8.count >= found[item.name]?.text.utf8.count ?? 0 {
                found[item.name] = item
            }
        }
        return found.values.sorted { $0.name < $1.name }
    }

    /// Returns the packages in a control file: paragraphs of `Name: value`, in which a line with a
    /// leading space continues a value.
    static func packages(in data: Data) -> [KnownItem] {
        var items: [KnownItem] = []
        var (name, summary, text) = ("", "", "")
        var isDescription = false
        func end() {
            if !name.isEmpty, !summary.isEmpty {
                items.append(KnownItem(kind: .package, name: name, summary: summary, text: text))
            }
            (name, summary, text, isDescription) = ("", "", "", false)
        }
        for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.isEmpty {
                end()
            } else if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
                // A line with a single dot represents an empty line.
                if isDescription, line.dropFirst() != Data(".".utf8)[...] {
                    text += (text.isEmpty ? "" : " ") + String(decoding: line.dropFirst(), as: UTF8.self)
                }
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                let field = String(decoding: line[..<colon], as: UTF8.self)
                let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
                    .trimmingCharacters(in: .whitespaces)
                isDescription = field == "Description" || field == "Description-en"
                if field == "Package" { name = value }
                if isDescription { summary = value }
            }
        }
        end()
        return items
    }

    /// Returns the manual pages in the output of apropos(1).
    static func manualPages() throws -> [KnownItem] { manualPages(in: output(["apropos", "--long", "."])) }

    /// Returns the pages in lines such as `ls (1) - list directory contents`, without duplicates.
    static func manualPages(in data: Data) -> [KnownItem] {
        var known: Set<String> = []
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
            guard let dash = line.range(of: " - "), let open = line[..<dash.lowerBound].lastIndex(of: "("),
                let close = line[open...].firstIndex(of: ")")
            else { return nil }
            let item = KnownItem(
                kind: .manual, name: line[..<open].trimmingCharacters(in: .whitespaces),
                section: String(line[line.index(after: open)..<close]),
                summary: line[dash.upperBound...].trimmingCharacters(in: .whitespaces))
            return !item.name.isEmpty && known.insert(item.identifier).inserted ? item : nil
        }
    }

    /// Returns the pages about installed programs, which users search by name. Some programs
    /// install thousands of pages for their own subcommands.
    static func commands(of pages: [KnownItem]) -> [KnownItem] {
        let programs = Set(
            programFolders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] })
        var known: Set<String> = []
        return pages.filter {
            ["1", "6", "8"].contains($0.section.prefix(1)) && programs.contains($0.name)
                && known.insert($0.name).inserted
        }
    }

    /// Returns the output of a program; empty if the program is not installed.
    private static func output(_ arguments: [String]) -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["LC_ALL=C.UTF-8"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? RunningChildren.run(process)) != nil else { return Data() }
        defer { RunningChildren.forget(process) }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data
    }
}

// SPDX-License-Identifier: Apache-2.0
import Glibc
import ItemRecord
import ServiceMessages
import SymbolBindings
import SystemSupport

/// The facts about the bundle and the system that bindings may use as values.
struct BoundBundle: Sendable {
    /// The bundle's path.
    let path: String
    /// The type identifiers by filename extension in lower case.
    let types: [String: String]
}

/// The values in a binding that come from the request. Confined to one thread.
final class RequestSources {
    let bundle: BoundBundle
    let frame: CallFrame
    var record: ItemRecord?
    var type: String?
    var query: String?
    var isInPlace = false
    var identifiers: [String] = []
    /// The folder or file whose items are requested.
    var filePath: String?
    var notice: ThrottleNotice?
    /// The file that the function must write.
    private(set) var destination: OwnedDescriptor?
    private var contents: UnsafeRawBufferPointer?

    init(bundle: BoundBundle, frame: CallFrame = CallFrame()) {
        self.bundle = bundle
        self.frame = frame
    }

    func value(_ source: BoundValue.Source) throws(BindingFailure) -> RuntimeValue {
        switch source {
        case .identifier: return .text(try item().uniqueIdentifier)
        case .path: return .text(try path())
        case .contents:
            if let contents { return .bytes(contents) }
            let bytes = try frame.contents(of: try path())
            contents = bytes
            return .bytes(bytes)
        case .type: return .text(type ?? "")
        case .query: return query.map { .text($0) } ?? .null
        case .inPlace: return .integer(isInPlace ? 1 : 0)
        case .destination: return .text("/proc/self/fd/\(try openDestination().number)")
        case .identifiers: return .texts(identifiers)
        case .filePath: return filePath.map { .text($0) } ?? .null
        case .reason: return .integer(Int128(notice?.reason.rawValue ?? 0))
        case .rate: return .float(notice?.itemsPerSecond ?? 0)
        case .bundlePath: return .text(bundle.path)
        }
    }

    func attribute(_ form: BoundValue.AttributeForm, _ name: String) throws(BindingFailure) -> RuntimeValue? {
        guard let value = try item().attributes[name] else { return nil }
        switch (form, value) {
        case (.text, _): return value.text.map { .text($0) }
        case (.integer, .integer(let number)): return .integer(Int128(number))
        case (.integer, .boolean(let flag)): return .integer(flag ? 1 : 0)
        case (.integer, .double(let number)): return Int64(exactly: number).map { .integer(Int128($0)) }
        case (.float, .integer(let number)): return .float(Double(number))
        case (.float, .double(let number)): return .float(number)
        case (.float, .date(let seconds)): return .float(seconds + referenceDateOffset)
        default: return nil
        }
    }

    private func item() throws(BindingFailure) -> ItemRecord {
        guard let record else { throw BindingFailure(.notFound, "there is no item") }
        return record
    }

    /// Returns the path of the item's file.
    private func path() throws(BindingFailure) -> String {
        let item = try item()
        guard let url = item.text("contentURL") else {
            throw BindingFailure(
                .notFound, "\(item.uniqueIdentifier) has no contentURL, so it has no file")
        }
        guard let path = FileURL.path(of: url) else {
            throw BindingFailure(
                .unsupported, "the contentURL of \(item.uniqueIdentifier) is \(url), which is not a file")
        }
        return path
    }

    private func openDestination() throws(BindingFailure) -> OwnedDescriptor {
        if let destination { return destination }
        let file = try NamelessFile.make()
        destination = file
        return file
    }
}

/// The seconds between 1970-01-01 (Unix) and 2001-01-01 (item records).
private let referenceDateOffset = 978_307_200.0

extension AttributeValue {
    /// Converts a binding's value to an attribute; `nil` if it has no attribute type.
    init?(_ value: RuntimeValue) throws(BindingFailure) {
        switch value {
        case .integer(let number):
            guard let number = Int64(exactly: number) else { self = .double(Double(number)); return }
            self = .integer(number)
        case .float(let number): self = .double(number)
        case .text(let text): self = .string(text)
        case .texts(let texts): self = .array(texts.map { .string($0) })
        case .bytes: self = .data(try value.copied() ?? [])
        case .url(let path): self = .url(FileURL.text(path))
        case .date(let seconds): self = .date(seconds - referenceDateOffset)
        case .pointer, .null, .file: return nil
        }
    }
}

/// Creates unnamed files, which are deleted when their last descriptor is closed. They are in the
/// worker's own folder. The worker may not create files on a memory file system, because they would
/// not count towards its limits.
enum NamelessFile {
    static func make() throws(BindingFailure) -> OwnedDescriptor {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((folder + "/searchlight-XXXXXX").utf8CString)
        let number = template.withUnsafeMutableBufferPointer { $0.baseAddress.map { mkstemp($0) } ?? -1 }
        guard number >= 0 else {
            throw BindingFailure(.failed, "a file in \(folder) could not be made: \(String(cString: strerror(errno)))")
        }
        unlink(template)
        return OwnedDescriptor(adopting: number)
    }

    static func make(_ bytes: [UInt8]) throws(BindingFailure) -> OwnedDescriptor {
        let file = try make()
        // Written with an offset, so that the file position stays at the start for the reader.
        let written = bytes.withUnsafeBytes { WholeTransfer.write($0, to: file.number, at: 0) }
        if case .failure(let error) = written {
            throw BindingFailure(.failed, "filling a file failed: \(String(cString: strerror(error.code)))")
        }
        return file
    }
}

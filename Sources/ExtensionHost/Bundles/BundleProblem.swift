// SPDX-License-Identifier: Apache-2.0

/// Why an extension bundle is not used. Each says what is wrong and what to do.
public enum BundleProblem: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// There is no `Info.plist`, or it cannot be opened.
    case manifestUnreadable(reason: String)
    /// The `Info.plist` is larger than any manifest needs to be.
    case manifestTooLarge(bytes: Int)
    /// A key the host needs is missing.
    case missingKey(String)
    /// A key has a value the host cannot use.
    case invalidValue(key: String, value: String, expected: String)
    /// The library the manifest names cannot be opened.
    case libraryUnreadable(name: String, reason: String)
    /// The library is not a shared library.
    case notALibrary(name: String, found: String)
    /// The library was built for another processor.
    case wrongArchitecture(name: String, found: String, expected: String)
    /// Somebody else could change the bundle.
    case writableByOthers(path: String, detail: String)
    /// Another bundle earlier in the search path has the same identifier.
    case shadowed(identifier: String, by: String)

    /// The problem in one or two sentences.
    public var description: String {
        switch self {
        case .manifestUnreadable(let reason): "Its Info.plist cannot be read: \(reason)."
        case .manifestTooLarge(let bytes):
            "Its Info.plist has \(bytes) bytes; the limit is \(ExtensionManifest.maximumBytes)."
        case .missingKey(let key): "Its Info.plist has no \(key). Add it."
        case .invalidValue(let key, let value, let expected):
            "\(key) in its Info.plist is \(value.debugDescription); expected is \(expected)."
        case .libraryUnreadable(let name, let reason):
            "Its library \(name) (CFBundleExecutable) cannot be read: \(reason)."
        case .notALibrary(let name, let found):
            "\(name) is not a shared library: \(found). Build it with -shared, or as a dynamic library product."
        case .wrongArchitecture(let name, let found, let expected):
            "\(name) was built for \(found); this machine needs \(expected). Rebuild it for this machine."
        case .writableByOthers(let path, let detail):
            "\(path) \(detail), so somebody else could replace its code. Change its owner or mode (chmod go-w)."
        case .shadowed(let identifier, let other): "\(identifier) is already provided by \(other), which comes first."
        }
    }
}

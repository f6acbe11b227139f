// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

extension NSItemProvider {
    /// Loads data of a type.
    ///
    /// A file is read.
    ///
    /// - Note: Differs on Linux: a folder cannot be loaded as data and fails with ``ErrorCode/unavailableCoercionError``,
    ///   where Apple's systems make a zip archive. The library has no archiver among its dependencies and does not bring one
    ///   into every app for this. Load the folder as a file.
    /// - Parameter completionHandler: called once, on a queue of the library, with data or an error.
    /// - Returns: how far it is; cancelling it ends the loading with `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    public func loadDataRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress {
        let loading = ItemLoading<Data> { result in
            switch result {
            case .success(let data): completionHandler(data, nil)
            case .failure(let error): completionHandler(nil, error)
            }
        }
        load(typeIdentifier, loading) { [self] representation in
            switch representation.content {
            case .data(let load):
                loading.follow(load { data, error in loading.finish(Self.result(data, error, representation)) })
            case .file(let load, _):
                loading.follow(
                    load { url, _, error in
                        loading.finish(Self.result(url, error, representation).flatMap(Self.contents))
                    })
            case .item(let load):
                // What was asked for, not the representation: an item is coerced.
                self.call(load, representation) { result in
                    loading.finish(result.flatMap { Self.data($0, representation.typeIdentifier) })
                }
            }
        }
        return loading.progress
    }

    /// Loads data of a type; see ``loadDataRepresentation(forTypeIdentifier:completionHandler:)``.
    @preconcurrency
    @discardableResult
    public func loadDataRepresentation(
        for contentType: UTType, completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress {
        loadDataRepresentation(forTypeIdentifier: contentType.identifier, completionHandler: completionHandler)
    }

    /// Loads a copy of a file of a type. The copy is deleted when the handler returns: move it away, or read it there. It is
    /// called ``suggestedName`` if that is set.
    ///
    /// - Parameter completionHandler: called once, on a queue of the library, with a file or an error.
    /// - Returns: how far it is; cancelling it ends the loading with `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    public func loadFileRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) -> Progress {
        loadFile(typeIdentifier, inPlace: false) { url, _, error in completionHandler(url, error) }
    }

    /// Loads a file of a type: the original if that is wanted and offered, else a copy.
    ///
    /// - Parameter completionHandler: called once, on a queue of the library, with a file and whether it is the original, or
    ///   with an error. A copy is deleted when the handler returns.
    @preconcurrency
    @discardableResult
    public func loadFileRepresentation(
        for contentType: UTType, openInPlace: Bool = false,
        completionHandler: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
    ) -> Progress {
        loadFile(contentType.identifier, inPlace: openInPlace, completionHandler)
    }

    /// Loads a file of a type: the original if it is offered, else a copy.
    ///
    /// - Parameter completionHandler: called once, on a queue of the library, with a file and whether it is the original, or
    ///   with an error. A copy is deleted when the handler returns: there is no file coordination to wait for.
    @preconcurrency
    @discardableResult
    public func loadInPlaceFileRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
    ) -> Progress {
        loadFile(typeIdentifier, inPlace: true, completionHandler)
    }

    private func loadFile(
        _ typeIdentifier: String, inPlace: Bool, _ completion: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
    ) -> Progress {
        let loading = ItemLoading<(URL, Bool)> { result in
            switch result {
            case .success(let (url, isOriginal)): completion(url, isOriginal, nil)
            case .failure(let error): completion(nil, false, error)
            }
        }
        let name = suggestedName
        let prefers: NSItemProviderFileOptions = inPlace ? .openInPlace : []
        load(typeIdentifier, loading, preferring: prefers) { [self] representation in
            @Sendable func finish(copying make: () throws -> TemporaryCopy) {
                do {
                    let copy = try make()
                    loading.finish(.success((copy.url, false)), after: copy.remove)
                } catch {
                    loading.finish(.failure(error))
                }
            }
            @Sendable func finish(_ data: Result<Data, any Error>) {
                finish { try TemporaryCopy(of: data.get(), as: name, type: representation.typeIdentifier) }
            }
            @Sendable func finish(_ file: Result<URL, any Error>, mayBeOriginal: Bool) {
                if inPlace, mayBeOriginal, case .success(let url) = file {
                    loading.finish(.success((url, true)))
                } else {
                    finish { try TemporaryCopy(of: file.get(), as: name, type: representation.typeIdentifier) }
                }
            }
            switch representation.content {
            case .data(let load):
                loading.follow(load { data, error in finish(Self.result(data, error, representation)) })
            case .file(let load, let opensInPlace):
                loading.follow(
                    load { url, _, error in
                        finish(Self.result(url, error, representation), mayBeOriginal: opensInPlace)
                    })
            case .item(let load):
                self.call(load, representation) { result in
                    if case .success(let url as NSURL) = result, url.isFileURL, let url = url.absoluteURL {
                        finish(.success(url), mayBeOriginal: true)
                    } else {
                        finish(result.flatMap { Self.data($0, representation.typeIdentifier) })
                    }
                }
            }
        }
        return loading.progress
    }

    /// Finds the representation and has it loaded, on the handlers' queue.
    private func load<Value>(
        _ typeIdentifier: String, _ loading: ItemLoading<Value>, preferring options: NSItemProviderFileOptions = [],
        _ body: @escaping @Sendable (ItemRepresentation) -> Void
    ) {
        let preferred = representation(of: typeIdentifier, options) ?? representation(of: typeIdentifier)
        guard let preferred else {
            return loading.finish(
                .failure(
                    Self.error(
                        .itemUnavailableError,
                        "The item has no representation of type \(typeIdentifier). It has: "
                            + registeredTypeIdentifiers.joined(separator: ", "))))
        }
        HandlerQueue.shared.async {
            guard !loading.progress.isCancelled else { return }
            body(preferred)
        }
    }

    // MARK: Results

    static func result<Value>(
        _ value: Value?, _ error: (any Error)?, _ representation: ItemRepresentation
    ) -> Result<Value, any Error> {
        if let error { return .failure(error) }
        if let value { return .success(value) }
        return .failure(
            Self.error(
                .itemUnavailableError,
                "The handler for type \(representation.typeIdentifier) gave neither an item nor an error."))
    }

    static func contents(of url: URL) -> Result<Data, any Error> {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
            return .failure(
                Self.error(
                    .unavailableCoercionError,
                    "The folder \(url.lastPathComponent) cannot be loaded as data: this library makes no archives. Load "
                        + "it as a file."))
        }
        return Result { try Data(contentsOf: url) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSItemProvider {
    func loadData(
        _ typeIdentifier: String, _ completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
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
                loading.follow(
                    load { data, error in loading.finish(Self.result(data, error, representation.typeIdentifier)) })
            case .file(let load, _):
                loading.follow(
                    load { url, _, error in
                        loading.finish(Self.result(url, error, representation.typeIdentifier).flatMap(Self.contents))
                    })
            case .item(let load):
                // The item is converted to the requested type.
                self.call(load, representation) { result in
                    loading.finish(result.flatMap { Self.data($0, representation.typeIdentifier) })
                }
            }
        }
        return loading.progress
    }

    func loadFile(
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
                loading.follow(load { data, error in finish(Self.result(data, error, representation.typeIdentifier)) })
            case .file(let load, let opensInPlace):
                loading.follow(
                    load { url, _, error in
                        finish(Self.result(url, error, representation.typeIdentifier), mayBeOriginal: opensInPlace)
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

    /// Finds the representation and loads it on the handlers' queue.
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
        _ value: Value?, _ error: (any Error)?, _ typeIdentifier: String
    ) -> Result<Value, any Error> {
        if let error { return .failure(error) }
        if let value { return .success(value) }
        return .failure(
            Self.error(
                .itemUnavailableError,
                "The handler for type \(typeIdentifier) returned neither an item nor an error."))
    }

    static func contents(of url: URL) -> Result<Data, any Error> {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
            return .failure(
                Self.error(
                    .unavailableCoercionError,
                    "The folder \(url.lastPathComponent) cannot be loaded as data, because this library creates no archives. Load "
                        + "it as a file."))
        }
        return Result { try Data(contentsOf: url) }
    }
}

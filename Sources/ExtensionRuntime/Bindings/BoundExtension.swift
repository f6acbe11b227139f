// SPDX-License-Identifier: Apache-2.0
import Glibc
import ItemRecord
import SearchlightExtension
import ServiceMessages
import SymbolBindings
import SystemSupport

/// An extension without code: its bindings, and the libraries that they call.
final class BoundExtension: AskedExtension {
    let interfaces: [String]
    private let bindings: [PreparedBinding]
    /// The bindings that set attributes of the items donated by the other bindings.
    private let attributes: BoundAttributes
    private let session: HostSession
    private let bundle: BoundBundle

    /// Reads the bindings, opens their libraries and finds all functions. If a binding's library is
    /// not installed, the requests that the binding would handle fail. If no binding is usable, the
    /// extension is not loaded.
    init(_ request: LoadRequest, session: HostSession) throws(LoadError) {
        guard request.bindings.count <= BindingLimits.bindings else {
            throw LoadError(
                failure: .invalidBinding,
                message: "There are \(request.bindings.count) bindings; the limit is \(BindingLimits.bindings).")
        }
        self.session = session
        bundle = BoundBundle(path: request.bundlePath, types: request.types)
        var libraries: [[String]: Result<BoundLibrary, LoadError>] = [:]
        var bindings: [PreparedBinding] = []
        for (number, text) in request.bindings.enumerated() {
            let binding: SymbolBinding
            do throws(BindingError) { binding = try SymbolBinding(parsing: text) } catch {
                throw LoadError(failure: .invalidBinding, message: "Binding \(number + 1), \(error)")
            }
            let library =
                libraries[binding.libraries]
                ?? Result { () throws(LoadError) in
                    try BoundLibrary(oneOf: binding.libraries, bundlePath: request.bundlePath)
                }
            libraries[binding.libraries] = library
            bindings.append(PreparedBinding(binding, library: library))
        }
        let failures = bindings.compactMap { binding in
            if case .failure(let error) = binding.calls { error } else { nil }
        }
        if let first = failures.first, failures.count == bindings.count { throw first }
        for failure in failures { session.log(.warning, failure.message) }
        self.bindings = bindings
        attributes = BoundAttributes(bindings, bundle: bundle)
        interfaces = Self.interfaces(of: bindings.map(\.binding.purpose))
    }

    private static func interfaces(of purposes: [SymbolBinding.Purpose]) -> [String] {
        var served: [String] = []
        for purpose in purposes {
            let interfaces: [String] =
                switch purpose {
                case .reindexAll, .reindexItems: [SEARCHLIGHT_EXTENSION_REINDEX]
                case .files: [SEARCHLIGHT_EXTENSION_REINDEX, SEARCHLIGHT_EXTENSION_CHANGES]
                case .data, .file: [SEARCHLIGHT_EXTENSION_PROMISES]
                case .preview: [SEARCHLIGHT_EXTENSION_PREVIEW]
                case .throttle: [SEARCHLIGHT_EXTENSION_THROTTLE]
                case .attributes: []
                }
            served += interfaces.filter { !served.contains($0) }
        }
        return served
    }

    // MARK: Requests

    func reindexAll(_ request: UInt64) -> Bool {
        let wanted = bindings.filter { $0.binding.purpose == .reindexAll || $0.folder != nil }
        guard !wanted.isEmpty else { return false }
        BoundReindex(request, wanted, attributes, session: session, bundle: bundle, scope: .everything).run()
        return true
    }

    func reindexItems(_ request: UInt64, _ identifiers: [String]) -> Bool {
        let wanted = bindings.filter { $0.binding.purpose == .reindexItems }
        if !wanted.isEmpty {
            BoundReindex(
                request, wanted, attributes, session: session, bundle: bundle, scope: .items(identifiers)
            ).run()
            return true
        }
        // A binding that can only find all items is asked for all of them, and unwanted items are
        // dropped.
        let finding = bindings.filter { binding in
            binding.folder != nil
                || binding.binding.purpose == .reindexAll
                    && binding.binding.calls.contains { $0.callbacks.contains { $0.role == .donate } }
        }
        guard !finding.isEmpty else { return false }
        let scope: BoundReindex.Scope =
            finding.allSatisfy { $0.folder != nil } ? .files(Set(identifiers), moves: []) : .only(Set(identifiers))
        BoundReindex(request, finding, attributes, session: session, bundle: bundle, scope: scope).run()
        return true
    }

    func reindexPage(_ request: UInt64, _ page: ReindexPage) -> Bool { false }

    func updateFiles(_ request: UInt64, _ changes: [FileChange]) -> Bool {
        let wanted = bindings.filter { $0.folder != nil }
        guard !wanted.isEmpty else { return false }
        let moves = changes.compactMap { change in
            if case .moved(let old, let new) = change { ItemRename(old, to: new) } else { nil }
        }
        BoundReindex(
            request, wanted, attributes, session: session, bundle: bundle,
            scope: .files(Set(changes.flatMap(\.paths)), moves: moves)
        ).run()
        return true
    }

    func provideData(_ request: UInt64, item: String, type: String) -> Bool {
        let candidates = bindings.filter {
            if case .data(let given, _) = $0.binding.purpose { Self.isSame(given, type) } else { false }
        }
        return answer(request, candidates, item, type: type) { (run, _, binding) throws(BindingFailure) in
            guard let result = binding.result, let bytes = try run.value(result).copied() else {
                throw BindingFailure(.notFound, "the function returned nothing")
            }
            return .data(bytes)
        }
    }

    func provideFile(_ request: UInt64, item: String, type: String, inPlace: Bool) -> Bool {
        let candidates = bindings.filter {
            if case .file(let given, _) = $0.binding.purpose { Self.isSame(given, type) } else { false }
        }
        return answer(request, candidates, item, type: type, prepare: { $0.isInPlace = inPlace }) {
            (run, sources, binding) throws(BindingFailure) in
            guard let result = binding.result else { throw BindingFailure(.notFound, "the function returned nothing") }
            if case .source(.destination) = result { return try Self.written(sources) }
            let value = try run.value(result)
            if case .file(let path) = value {
                var status = stat()
                if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { sources.frame.keep(path) }
                return try Self.opened(path)
            }
            guard let bytes = try value.copied() else {
                throw BindingFailure(.notFound, "the function returned nothing")
            }
            return .file(FileReply(descriptor: try NamelessFile.make(bytes), name: ""))
        }
    }

    func preview(_ request: UInt64, item: String, query: String?, contentPath: String?) -> Bool {
        let candidates = bindings.filter { if case .preview = $0.binding.purpose { true } else { false } }
        return answer(request, candidates, item, type: nil, prepare: { $0.query = query }) {
            (run, sources, binding) throws(BindingFailure) in
            guard case .preview(let type, _) = binding.purpose, let result = binding.result else {
                throw BindingFailure(.unsupported, "")
            }
            let bytes = try Self.rendered(run, result, sources)
            var title: String?
            if let value = binding.title, case .text(let text) = try run.value(value) { title = text }
            guard bytes.count <= PreviewHeader.maximumBytes else {
                throw BindingFailure(
                    .tooLarge, "the preview has \(bytes.count) bytes; the limit is \(PreviewHeader.maximumBytes)")
            }
            return .preview(PreparedPreview(contentType: type, title: title, content: bytes))
        }
    }

    func didThrottle(_ notice: ThrottleNotice) -> Bool {
        let wanted = bindings.filter { $0.binding.purpose == .throttle }
        for binding in wanted {
            let sources = RequestSources(bundle: bundle)
            sources.notice = notice
            do throws(BindingFailure) {
                try BindingRun(try Self.calls(of: binding), sources: sources, receiver: Unheard(session: session))
                    .perform()
            } catch {
                session.log(.warning, "slowing down: \(error.message)")
            }
        }
        return !wanted.isEmpty
    }

    func didFinishThrottle() -> Bool { false }

    // MARK: Answers

    /// Runs the first binding that matches the item's type.
    private func answer(
        _ request: UInt64, _ candidates: [PreparedBinding], _ item: String, type: String?,
        prepare: (RequestSources) -> Void = { _ in },
        _ outcome: (BindingRun, RequestSources, SymbolBinding) throws(BindingFailure) -> RequestOutcome
    ) -> Bool {
        guard !candidates.isEmpty else { return false }
        do throws(BindingFailure) {
            let (record, types) = try session.record(of: item)
            guard let chosen = candidates.first(where: { $0.binding.isFor(types) }) else { return false }
            let sources = RequestSources(bundle: bundle)
            (sources.record, sources.type) = (record, type)
            prepare(sources)
            let run = BindingRun(
                try Self.calls(of: chosen), sources: sources,
                receiver: Unheard(session: session, request: request))
            try run.perform()
            session.finish(request, try outcome(run, sources, chosen.binding))
        } catch {
            session.finish(request, .failed(error.status, error.message))
        }
        return true
    }

    static func calls(of binding: PreparedBinding) throws(BindingFailure) -> PreparedCalls {
        do throws(LoadError) { return try binding.calls.get() } catch {
            throw BindingFailure(.unavailable, error.message)
        }
    }

    /// Returns the bytes of a preview: the function's result, the contents of the file whose path
    /// it returned, or the file that it wrote.
    private static func rendered(
        _ run: BindingRun, _ result: BoundValue, _ sources: RequestSources
    ) throws(BindingFailure) -> [UInt8] {
        if case .source(.destination) = result {
            guard case .file(let reply) = try written(sources) else { return [] }
            return Array(try sources.frame.contents(of: reply.descriptor, "the file that was written"))
        }
        let value = try run.value(result)
        if case .file(let path) = value { return Array(try sources.frame.contents(of: path)) }
        guard let bytes = try value.copied() else { throw BindingFailure(.unsupported, "") }
        return bytes
    }

    /// Returns the file that the function wrote.
    private static func written(_ sources: RequestSources) throws(BindingFailure) -> RequestOutcome {
        guard let file = sources.destination else {
            throw BindingFailure(.failed, "nothing was written, because no function got request.destination")
        }
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw BindingFailure(.failed, "the file is gone") }
        try RuntimeValue.check(Int128(status.st_size), "the file that was written")
        return .file(FileReply(descriptor: file, name: ""))
    }

    private static func opened(_ path: String) throws(BindingFailure) -> RequestOutcome {
        guard path.hasPrefix("/") else {
            throw BindingFailure(
                .invalidArgument, "the function returned \(path) for the file, which is not an absolute path")
        }
        do throws(FileRefusal) { return .file(try FileReply(opening: path)) } catch {
            throw BindingFailure(error.status, error.message)
        }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool { one.lowercased() == other.lowercased() }
}

extension SymbolBinding {
    /// Returns `true` if the binding is for an item that has one of these types or conforms to one.
    func isFor(_ types: [String]) -> Bool {
        switch purpose {
        case .data(_, let own), .file(_, let own), .preview(_, let own), .attributes(let own):
            own.contains { type in types.contains { $0.lowercased() == type.lowercased() } }
        case .reindexAll, .files, .reindexItems, .throttle: true
        }
    }
}

/// A receiver for requests that only have progress callbacks.
private struct Unheard: CallbackReceiver {
    let session: HostSession
    var request: UInt64?

    func acknowledge(_ failure: BindingFailure?) {}
    func donate(_ item: ItemRecord) {}
    func wants(_ identifier: String) -> Bool { false }
    var isOver: Bool { request.map { session.requests.isCancelled($0) } ?? false }
    func warn(_ message: String) { session.log(.warning, message) }
    func leaveOut(_ what: LeftOut) {}
    func misuse(_ rule: HostRequest.Misuse, _ message: String) { session.misuse(rule, message) }

    func report(completed: UInt64, total: UInt64) {
        guard let request else { return }
        guard session.requests.isPending(request) else {
            return session.misuse(.usedAfterRelease, "a callback for progress was called after its request was over")
        }
        session.requests.report(request, completed: completed, total: total)
    }
}

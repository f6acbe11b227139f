// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import SearchlightExtension
import ServiceMessages
import Synchronization
import SystemSupport

/// An extension without code that turns rows in an app's database into items
/// (`Searchlight.Database`; docs/DATABASES.md).
///
/// It reads copies of the database (``DatabaseSnapshot``), so the app is never blocked. It handles
/// one request at a time.
final class DatabaseExtension: AskedExtension {
    let interfaces = [
        SEARCHLIGHT_EXTENSION_REINDEX, SEARCHLIGHT_EXTENSION_PAGING, SEARCHLIGHT_EXTENSION_CHANGES,
        SEARCHLIGHT_EXTENSION_PROMISES, SEARCHLIGHT_EXTENSION_PREVIEW,
    ]
    private let work: Mutex<DatabaseWork>
    private let session: HostSession
    private let time: SessionTime

    /// Reads the binding again, with the same checks as in the host.
    init(_ request: LoadRequest, session: HostSession, time: SessionTime = .system) throws(LoadError) {
        let binding: DatabaseBinding
        do throws(DatabaseBindingError) { binding = try DatabaseBinding(json: request.database) } catch {
            throw LoadError(failure: .invalidBinding, message: error.description)
        }
        self.session = session
        self.time = time
        work = Mutex(DatabaseWork(binding, session: session, now: time.now))
    }

    /// Always `false`: the host requests pages instead, so that a failure in the middle loses no
    /// item.
    func reindexAll(_ request: UInt64) -> Bool { false }

    func reindexPage(_ request: UInt64, _ page: ReindexPage) -> Bool {
        serve(request) { (work) throws(BindingFailure) in
            .page(next: try work.reindexPage(page))
        }
    }

    func reindexItems(_ request: UInt64, _ identifiers: [String]) -> Bool {
        serve(request) { (work) throws(BindingFailure) in
            try work.reindexItems(identifiers)
            return .acknowledged
        }
    }

    func updateFiles(_ request: UInt64, _ changes: [FileChange]) -> Bool {
        serve(request) { (work) throws(BindingFailure) in
            try work.updateFiles(changes.flatMap(\.paths))
            return .acknowledged
        }
    }

    func provideData(_ request: UInt64, item: String, type: String) -> Bool {
        serve(request) { (work) throws(BindingFailure) in .data(try work.data(of: item, type)) }
    }

    func provideFile(_ request: UInt64, item: String, type: String, inPlace: Bool) -> Bool {
        serve(request) { (work) throws(BindingFailure) in .file(try work.file(of: item, type)) }
    }

    func preview(_ request: UInt64, item: String, query: String?, contentPath: String?) -> Bool {
        serve(request) { (work) throws(BindingFailure) in .preview(try work.preview(of: item)) }
    }

    func didThrottle(_ notice: ThrottleNotice) -> Bool { false }
    func didFinishThrottle() -> Bool { false }

    private func serve(
        _ request: UInt64, _ body: (inout DatabaseWork) throws(BindingFailure) -> RequestOutcome
    ) -> Bool {
        let outcome = work.withLock { work -> RequestOutcome in
            work.begin(request)
            defer { work.end() }
            do throws(BindingFailure) { return try body(&work) } catch { return .failed(error.status, error.message) }
        }
        session.finish(request, outcome)
        return true
    }
}

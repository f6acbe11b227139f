// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension

/// Whoever answers for an index, be it the principal object of an extension or an app's delegate, and what its answers
/// mean.
struct AskedDelegate: @unchecked Sendable {
    // Sendable: a delegate is called from several threads at once by contract, as on Apple's systems; guarding its own
    // state is up to it. An index is Sendable.

    let index: CSSearchableIndex
    let delegate: any CSSearchableIndexDelegate

    func reindexAll(_ answer: RequestAnswer) {
        delegate.searchableIndex(
            index, reindexAllSearchableItemsWithAcknowledgementHandler: { answer.give(.acknowledged) })
    }

    func reindex(_ identifiers: [String], _ answer: RequestAnswer) {
        delegate.searchableIndex(
            index, reindexSearchableItemsWithIdentifiers: identifiers,
            acknowledgementHandler: { answer.give(.acknowledged) })
    }

    /// Whether the delegate handles changes of files.
    var handlesFileChanges: Bool { delegate is any CSFileChangeHandler }

    func updateFiles(_ changes: [CSFileChange], _ answer: RequestAnswer) {
        (delegate as? any CSFileChangeHandler)?.searchableIndex(
            index, updateItemsForFileChanges: changes, acknowledgementHandler: { answer.give(.acknowledged) })
    }

    func throttle() { delegate.searchableIndexDidThrottle(index) }

    func finishThrottle() { delegate.searchableIndexDidFinishThrottle(index) }

    func data(of item: String, as type: String) -> RequestAnswer.Outcome {
        do {
            let data = try delegate.data(for: index, itemIdentifier: item, typeIdentifier: type)
            guard data.isEmpty else { return .data(data) }
            // Apple's template answers for unknown items with empty data.
            return .failed(
                HostFailure(SEARCHLIGHT_NOT_FOUND, "There is no data of type \(type) for item \"\(item)\"."))
        } catch {
            return .failed(HostFailure(thrown: error))
        }
    }

    /// The item as a file. It is the delegate's: it may be an original wherever it lies, so what is made for the request
    /// only is for the delegate to clear away.
    func file(of item: String, as type: String, inPlace: Bool) -> RequestAnswer.Outcome {
        do {
            let url = try delegate.fileURL(for: index, itemIdentifier: item, typeIdentifier: type, inPlace: inPlace)
            guard url.isFileURL else {
                return .failed(
                    HostFailure(
                        SEARCHLIGHT_FAILED, "The answer was \(url.absoluteString), which is not the URL of a file."))
            }
            // Apple's template answers for unknown items with the URL "file://".
            guard !["", "/"].contains(url.path) else {
                return .failed(
                    HostFailure(SEARCHLIGHT_NOT_FOUND, "There is no file of type \(type) for item \"\(item)\"."))
            }
            return .file(url.path)
        } catch {
            return .failed(HostFailure(thrown: error))
        }
    }
}

extension Sequence<AskedDelegate> {
    /// Has all of them do something that each acknowledges; the answer is an acknowledgement once all have, or the first
    /// failure.
    func askAll(_ answer: RequestAnswer, _ ask: (AskedDelegate, RequestAnswer) -> Void) {
        let asked = Array(self)
        let missing = CountDown(asked.count)
        for delegate in asked {
            ask(
                delegate,
                RequestAnswer { outcome in
                    if case .acknowledged = outcome {
                        if missing.next() == 0 { answer.give(.acknowledged) }
                    } else {
                        answer.give(outcome)
                    }
                })
        }
    }

    /// Asks one after the other until one has what is asked for. If none has, the answer is the first failure that says
    /// more than that there is nothing, or else the first.
    func askInTurn(_ ask: (AskedDelegate) -> RequestAnswer.Outcome) -> RequestAnswer.Outcome? {
        var failure: RequestAnswer.Outcome?
        for delegate in self {
            let outcome = ask(delegate)
            guard case .failed = outcome else { return outcome }
            if failure.map({ $0.isNothing && !outcome.isNothing }) ?? true { failure = outcome }
        }
        return failure
    }
}

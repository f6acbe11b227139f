// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord
internal import SearchlightExtension

/// A delegate that handles requests for an index: the principal object of an extension, or an app's
/// delegate. It converts the results to outcomes.
struct AskedDelegate: @unchecked Sendable {
    // Sendable: by contract, a delegate may be called from several threads at once, as on Apple's
    // systems, and must protect its own state. An index is Sendable.

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

    /// `true` if the app's object names an encrypted class.
    var isEncrypted: Bool { ProtectionClass(rawValue: index.protectionClass.rawValue)?.isEncrypted == true }

    /// Requests items of an encrypted index: donates the items that the delegate provides, and asks
    /// it to reindex the others.
    ///
    /// - Parameter protection: The class of the index in the store.
    func refresh(_ identifiers: [String], _ protection: FileProtectionType, _ answer: RequestAnswer) async {
        let items = await delegate.searchableItems(forIdentifiers: identifiers, protectionClass: protection)
        let wanted = Set(identifiers)
        let provided = items.filter { wanted.contains($0.uniqueIdentifier) }
        if !provided.isEmpty {
            // The app's object may have begun a batch, which would hold the items back.
            let fresh = CSSearchableIndex(name: index.name, sender: index.sender, protectionClass: protection)
            do { try await fresh.indexSearchableItems(provided) } catch {
                return answer.give(.failed(HostFailure(thrown: error)))
            }
        }
        let rest = wanted.subtracting(provided.map(\.uniqueIdentifier))
        guard !rest.isEmpty else { return answer.give(.acknowledged) }
        reindex(identifiers.filter(rest.contains), answer)
    }

    /// `true` if the delegate donates its items in pages.
    var handlesPages: Bool { delegate is any CSPagedReindexHandler }

    func reindexPage(_ page: CSReindexPage, _ answer: RequestAnswer) {
        (delegate as? any CSPagedReindexHandler)?.searchableIndex(
            index, reindexPage: page,
            acknowledgementHandler: { next in
                // The host would interpret an empty cursor as the end, and delete all items on
                // later pages.
                guard next?.isEmpty != true else {
                    return answer.give(
                        .failed(
                            HostFailure(
                                SEARCHLIGHT_INVALID_ARGUMENT,
                                "The cursor of the next page is empty. Pass nil after the last item.")))
                }
                answer.give(.page(next: next))
            })
    }

    /// `true` if the delegate handles file changes.
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
            // Apple's template returns empty data for unknown items.
            return .failed(
                HostFailure(SEARCHLIGHT_NOT_FOUND, "There is no data of type \(type) for item \"\(item)\"."))
        } catch {
            return .failed(HostFailure(thrown: error))
        }
    }

    /// Returns the item as a file. The file belongs to the delegate and may be an original at any
    /// path. So if the delegate creates a file for the request, it must remove that file itself.
    func file(of item: String, as type: String, inPlace: Bool) -> RequestAnswer.Outcome {
        do {
            let url = try delegate.fileURL(for: index, itemIdentifier: item, typeIdentifier: type, inPlace: inPlace)
            guard url.isFileURL else {
                return .failed(
                    HostFailure(
                        SEARCHLIGHT_FAILED, "The delegate answered with \(url.absoluteString), which is not a file URL."
                    ))
            }
            // Apple's template returns the URL "file://" for unknown items.
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
    /// Calls all delegates, and acknowledges the request once all have acknowledged it. The first
    /// failure becomes the reply.
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

    /// Calls the delegates one by one until one succeeds. If none succeeds, the outcome is the
    /// first failure other than “not found”, or else the first failure.
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

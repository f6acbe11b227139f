// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
import Dispatch
import Foundation
internal import SearchlightExtension
internal import ServiceMessages

/// Handles the service's requests to the app, through the app's delegates.
///
/// A reindex request is sent to every index with a delegate, and all delegates must acknowledge it.
/// A promise request is sent to one delegate after another until one fulfils it.
struct DelegateHandler: Sendable {
    /// A concurrent queue, because delegates may block and several requests may be in progress.
    private static let queue = DispatchQueue(label: "searchlight.index.delegates", attributes: .concurrent)

    let delegates: @Sendable () -> [AskedDelegate]

    /// Accepts a request; never blocks.
    func receive(_ call: IncomingCall) {
        do throws(BusError) {
            let request = try WorkerRequest(call)
            Self.queue.async { serve(request, call) }
        } catch .remote(let name, let message) {
            call.refuse(name: name, message: message)
        } catch {
            call.refuse(name: BusErrorName.invalidArguments, message: error.description)
        }
    }

    private func serve(_ request: WorkerRequest, _ call: IncomingCall) {
        let asked = delegates()
        guard !asked.isEmpty else { return call.refuse(.unavailable, "The app no longer has a delegate.") }
        let answer = RequestAnswer { Self.deliver($0, to: call) }
        switch request {
        case .reindexAll: asked.askAll(answer) { $0.reindexAll($1) }
        case .reindexItems(let identifiers):
            // Items of encrypted indexes have their own request. An app that has no other delegates
            // may still have other items.
            let others = asked.filter { !$0.isEncrypted }
            (others.isEmpty ? asked : others).askAll(answer) { $0.reindex(identifiers, $1) }
        case .reindexUnlocked(let locked):
            // The first donation to an index of an encrypted class fails too while the store is
            // locked.
            let others = asked.filter { delegate in
                !delegate.isEncrypted && !locked.contains { $0 == delegate.index.name }
            }
            // Without other delegates, nobody may be asked before the next unlocking.
            if others.isEmpty { answer.give(.acknowledged) }
            others.askAll(answer) { $0.reindexAll($1) }
        case .reindexEncrypted(let items):
            // The app's object may have another class or none, and still donate to the index.
            let own = asked.filter { $0.index.name == items.index }
            guard !own.isEmpty else {
                return answer.give(.failed(HostFailure(SEARCHLIGHT_UNSUPPORTED, EncryptedItems.noDelegate)))
            }
            let protection = FileProtectionType(rawValue: items.protection.rawValue)
            own.askAll(answer) { delegate, answer in
                Task { await delegate.refresh(items.identifiers, protection, answer) }
            }
        case .provideData(let item, let type):
            asked.askInTurn { $0.data(of: item, as: type) }.map(answer.give)
        case .provideFile(let item, let type, let inPlace):
            asked.askInTurn { $0.file(of: item, as: type, inPlace: inPlace) }.map(answer.give)
        case .didThrottle:
            for delegate in asked { delegate.throttle() }
            answer.give(.acknowledged)
        case .didFinishThrottle:
            for delegate in asked { delegate.finishThrottle() }
            answer.give(.acknowledged)
        case .preview, .load, .recordBoundary, .reindexPage, .updateFiles:
            answer.give(
                .failed(
                    HostFailure(
                        SEARCHLIGHT_UNSUPPORTED,
                        "The delegate of an app cannot serve previews, pages or changes of files. Serve them in the extension."
                    )))
        // Delegates have no cancellation method, as on Apple's systems.
        case .cancel: call.reply()
        }
    }

    private static func deliver(_ outcome: RequestAnswer.Outcome, to call: IncomingCall) {
        switch outcome {
        case .acknowledged: call.reply()
        case .data(let data):
            do throws(BusError) { call.reply(try Payload.sending(Array(data)).arguments) } catch {
                call.refuse(.failed, error.description)
            }
        case .file(let path):
            do throws(FileRefusal) { call.reply(try FileReply(opening: path).arguments) } catch {
                call.refuse(error.status, error.message)
            }
        case .preview: call.refuse(.unsupported, "An app cannot render previews.")
        case .page: call.refuse(.unsupported, "An app cannot donate pages.")
        case .failed(let failure): call.refuse(ExtensionStatus(rawValue: failure.status) ?? .failed, failure.message)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ExtensionHost
import Foundation
import IdleScheduling
import ItemRecord
import MetadataQuery
import Promises
import SearchIndex
import ServiceMessages
import TestSupport
import UserSearch

@testable import SearchlightEngine

/// Calls and errors of every kind, with any content that a user or an extension may produce.
enum RandomCalls {
    static func text(_ random: inout SplitMix64) -> String { random.text(length: random.below(12)) }
    static func maybe(_ random: inout SplitMix64) -> String? { random.below(2) == 0 ? nil : text(&random) }
    static func texts(_ random: inout SplitMix64) -> [String] { (0..<random.below(4)).map { _ in text(&random) } }
    static func number(_ random: inout SplitMix64) -> Int { Int(Int64(bitPattern: random.next())) }

    static func item(_ random: inout SplitMix64) -> StoredItem {
        var record = ItemRecord(uniqueIdentifier: "i" + text(&random).replacing("\0", with: ""))
        record.attributes = [
            "title": .string(text(&random)), "dueDate": .date(Double(random.below(1 << 30)) / 7),
            "thumbnailData": .data((0..<random.below(40)).map { UInt8($0) }), "rating": .double(0.1),
        ]
        return StoredItem(
            number: Int64(bitPattern: random.next()), scope: IndexScope(bundle: text(&random), index: maybe(&random)),
            record: record, donated: Double(random.next()) / 3,
            expires: [nil, .infinity, -.infinity, 0.1][random.below(4)])
    }

    static func calls(_ random: inout SplitMix64) -> [any ClientCall] {
        let query = [QueryText.all, .none, .text(#"title == "é*"cd"#)][random.below(3)]
        let place = QueryPlace(timeZone: text(&random), firstWeekday: number(&random))
        let scope = IndexScope(bundle: text(&random), index: maybe(&random))
        var search = ItemSearch(text(&random), bundle: maybe(&random))
        // In a fixed order, so that equal calls have equal bytes.
        search.attributes = Set(texts(&random).prefix(1))
        search.excludedBundles = Set(texts(&random).prefix(1))
        search.countsUpTo = random.below(2) == 0 ? nil : number(&random)
        search.snippetLength = random.below(2) == 0 ? nil : number(&random)
        search.notes = random.below(2) == 0 ? nil : .init(extensionFolders: texts(&random))
        let promise = Representation(type: text(&random), form: [.data, .file, .inPlaceFile][random.below(3)])
        return [
            OpeningCall(), PendingCall(), ExtensionsCall(), StatusCall(isExact: random.below(2) == 0), ItemCountsCall(),
            StoredItemCountCall(bundle: text(&random)), AccountCall(bundle: text(&random)),
            DisplayNamesCall(of: texts(&random)),
            PendingReindexesCall(), SearchCall(search: search),
            SimilarCall(to: Int64(number(&random)), search),
            SuggestCall(request: SuggestionRequest(text(&random), bundle: maybe(&random))),
            DiagnoseCall(search, item: Int64(number(&random))),
            ExpiredItemCall(text(&random), bundle: maybe(&random)),
            ItemsCall(
                query: query, bundle: maybe(&random), index: maybe(&random), limit: number(&random),
                cursor: random.below(2) == 0 ? nil : QueryCursor(after: Int64(number(&random))), place: place),
            CountCall(query: query, bundle: maybe(&random), place: place),
            ExplainCall(query: query, bundle: maybe(&random), place: place),
            LookUpCall(names: texts(&random), bundle: maybe(&random), index: maybe(&random)),
            LaunchTargetCall(item: Int64(number(&random)), action: [nil, .call, .navigate][random.below(3)]),
            SearchTargetCall(text: text(&random), bundle: text(&random)),
            OfferActivityCall(activity: .item(text(&random)), bundle: text(&random)),
            HoldActivityCall(activity: .search(text(&random)), bundle: text(&random)),
            AwaitActivityCall(number: UInt64(number(&random).magnitude)), DropActivityCall(number: 5),
            PreviewCall(item: Int64(number(&random)), query: maybe(&random)),
            FulfilCall(promise: promise, item: Int64(number(&random)), mayRetry: true),
            PrewarmCall(bundle: text(&random)), ReindexCall(bundle: text(&random)), UpdateCall(bundle: maybe(&random)),
            CompareCall(bundle: text(&random)),
            CommitCall(batch: .inline([0, 1, 255])),
            ClientStateCall(scope: scope), SettleCall(), RejectionsCall(scope: scope, mark: nil), FactsCall(),
            StopCall(), VerifyCall(), RepairCall(),
            ExtensionListingCall(), ExtensionDetailsCall(bundle: text(&random)), ExtensionPlacesCall(),
            SetEnabledCall(bundle: text(&random), isEnabled: random.below(2) == 0), ReleaseCall(bundle: text(&random)),
            ForgetCall(bundle: text(&random)), RemoveCall(bundle: text(&random)), UnfinishedRemovalsCall(),
            VerifyReceiptCall(
                receipt: ForgetReceipt(
                    bundle: text(&random), store: text(&random), moment: 1, lastItem: Int64(random.below(9)))),
            ReindexItemsCall(bundle: text(&random), items: texts(&random)),
            ScheduleCall(keys: random.below(2) == 0 ? nil : [key(&random), key(&random)]),
            RunJobCall(key: key(&random)),
            CancelJobCall(key: key(&random)),
            ThrottleCall(bundle: text(&random), isThrottled: random.below(2) == 0),
            InhibitCall(who: text(&random), why: text(&random)),
            EngageCall(
                Engagement(
                    item: Int64(number(&random)), text: text(&random), kind: random.pick(EngagementKind.allCases))),
            HistoryCall(offset: number(&random), limit: number(&random)), ClearHistoryCall(),
            SetLearningCall(isOn: random.below(2) == 0), DesktopVisibilityCall(),
            SetDesktopVisibilityCall(bundle: text(&random), isShown: random.below(2) == 0),
            SemanticStatusCall(), SemanticModelChangedCall(), EmbedCall(),
            UnlockCall(passphrase: Array(text(&random).utf8), creates: random.below(2) == 0), LockCall(),
            ProtectionStatusCall(), PrepareSecretsCall(), RotateKeysCall(with: .keyring),
            ChangeKeysCall(from: .passphrase(Array(text(&random).utf8)), to: .keyring),
        ]
    }

    private static func key(_ random: inout SplitMix64) -> ScheduledJob.Key {
        random.below(2) == 0
            ? .reindex(bundle: text(&random)) : .maintenance(random.pick(MaintenanceTask.allCases))
    }

    static func error(_ random: inout SplitMix64) -> EngineError {
        switch random.below(12) {
        case 0: .index(indexError(&random))
        case 1: .query([.cancelled, .tooComplex(what: "x", value: 1, limit: 2), .index(.closed)][random.below(3)])
        case 2: .extension(extensionError(&random))
        case 3: .promise(promiseError(&random))
        case 4: .storeInUse(path: text(&random), process: maybe(&random))
        case 5: .alreadyReindexing(text(&random))
        case 6: .itemNotFound(text(&random))
        case 9: .semantic(text(&random))
        case 10:
            .protection(
                [
                    .locked, .damaged(path: text(&random), detail: text(&random)), .otherStorage(.keyring),
                    .keyring(.refused(text(&random))), .keyring(.timedOut(seconds: 5)),
                ][random.below(5)])
        case 8: .itemElsewhere(text(&random), place: text(&random), places: texts(&random))
        case 7: .ambiguousItem(text(&random), candidates: [item(&random), item(&random)])
        default: .storeFile(path: text(&random), operation: text(&random), detail: text(&random))
        }
    }

    private static func indexError(_ random: inout SplitMix64) -> SearchIndexError {
        let path = text(&random)
        return [
            .noStore(path: path), .newerFormat(path: path), .damaged(path: path, detail: text(&random)),
            .full(path: path, operation: text(&random)), .readOnly(path: path, operation: text(&random)),
            .invalidItem(identifier: path, reason: text(&random)),
            .batchTooLarge(what: path, value: number(&random), limit: number(&random)), .mismatchedClientState,
            .clientStateTooLong(bytes: number(&random)), .closed,
            .storage(path: path, operation: text(&random), detail: text(&random)),
        ][random.below(11)]
    }

    private static func extensionError(_ random: inout SplitMix64) -> ExtensionError {
        let name = text(&random)
        let problem: BundleProblem = [
            .manifestUnreadable(reason: name), .manifestTooLarge(bytes: number(&random)), .missingKey(name),
            .invalidValue(key: name, value: name, expected: name), .libraryUnreadable(name: name, reason: name),
            .notALibrary(name: name, found: name), .wrongArchitecture(name: name, found: name, expected: name),
            .writableByOthers(path: name, detail: name), .shadowed(identifier: name, by: name),
            .notADirectory(found: name), .notAFile(name: name, found: name), .damagedLibrary(name: name, found: name),
            .privileged(name: name, mode: name),
        ][random.below(13)]
        let kind = random.pick(ExtensionHealth.FailureKind.allCases)
        let failure = ExtensionHealth.Failure(
            moment: Double(random.below(1 << 30)) / 7, kind: kind, during: text(&random),
            exit: [nil, .exited(3), .signalled(6)][random.below(3)], lastOutput: texts(&random))
        var health = ExtensionHealth()
        let fingerprint = BundleFingerprint(manifest: nil, library: .init(path: "/"), worker: nil)
        for _ in 0..<3 { health.note(failure, fingerprint) }
        if random.below(3) == 0 {
            let backOff = ExtensionHealth.BackOff(failures: random.below(9), until: Double(random.below(1 << 30)) / 7)
            return [
                .memoryExceeded(identifier: name, during: name, limit: random.next(), lastOutput: texts(&random)),
                .disabled(identifier: name), .backingOff(identifier: name, backOff, last: maybe(&random)),
                health.quarantine.map { .quarantined(identifier: name, $0) } ?? .disabled(identifier: name),
            ][random.below(4)]
        }
        return [
            .notFound(identifier: name, searchPath: texts(&random), known: texts(&random)),
            .refused(path: name, problem: problem), .workerUnavailable(reason: name),
            .cannotLoad(identifier: name, failure: random.pick(LoadFailure.allCases), message: text(&random)),
            .crashed(
                identifier: name, during: text(&random),
                exit: [.exited(3), .signalled(11), .endedByHost][random.below(3)], lastOutput: texts(&random)),
            .timedOut(identifier: name, during: name, limit: .seconds(5) + .nanoseconds(random.below(1000))),
            .failed(
                identifier: name, during: name, status: random.pick(ExtensionStatus.allCases), message: text(&random)),
            .malformedAnswer(identifier: name, during: name, reason: text(&random)), .cancelled,
        ][random.below(9)]
    }

    private static func promiseError(_ random: inout SplitMix64) -> PromiseError {
        let path = text(&random)
        return [
            .unsupportedType(offered: texts(&random), accepted: texts(&random)),
            .inputOutput(operation: path, path: path, code: Int32(random.below(100))), .missingFolder(path: path),
            .noRoom(path: path, length: random.next(), available: random.next()),
            .wrongLength(expected: random.next(), received: random.next()),
            .stalled(path: path, received: random.next(), after: .milliseconds(random.below(1 << 20))),
            .noReceiver(path: path, after: .seconds(1)), .tooSlow(path: path, limit: .seconds(2)),
            .tooLarge(length: random.next(), limit: random.next()),
            .unsupportedForm(taken: [.inPlaceFile], offered: [Representation(type: path, form: .data)]),
        ][random.below(10)]
    }
}

// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// The type of access to the store that a command needs.
package enum StoreUse {
    /// Reads the store.
    case read
    /// Reads the store, including log entries, which only a writer can apply. While another process
    /// writes, only applied donations are read.
    case readJournaled
    /// Changes the store, and creates it if needed.
    case change
    /// Changes the store, but does not create it.
    case changeExisting

    fileprivate var isReading: Bool {
        switch self {
        case .read, .readJournaled: true
        case .change, .changeExisting: false
        }
    }
}

extension EngineClient {
    /// Returns the failure of a command that found damage whose repair was refused when the store
    /// was opened; `nil` for other failures.
    ///
    /// - Parameter isTold: `true` if the user already knows why nothing is repaired.
    fileprivate func failureLeftByDamage(_ error: any Error, isTold: Bool) -> CommandFailure? {
        guard let refusal = (self as? SearchlightEngine)?.refusal, let error = error as? EngineError, error.isDamage
        else { return nil }
        return CommandFailure(message: (isTold ? error : refusal).description, status: .inputOutput)
    }
}

extension GlobalOptions {
    /// Runs a command's body with its store, and closes the store.
    ///
    /// If a read-only body finds damage, it runs a second time, unless it has printed something.
    /// The first run marks the damage, so opening the store the second time repairs it.
    ///
    /// - Parameters:
    ///   - notesFollow: `true` if the body requests and prints ``StoreNotes``.
    ///   - isRepeatable: `true` if a read-only body may run a second time.
    package func withStore<Value>(
        _ use: StoreUse, notesFollow: Bool = false, isRepeatable: Bool = true,
        _ body: (any EngineClient) async throws -> Value
    ) async throws -> Value {
        do {
            return try await withStoreOnce(use, notesFollow: notesFollow, body)
        } catch let error as EngineError where error.isDamage && use.isReading && isRepeatable && !Output.hasPrinted {
            return try await withStoreOnce(use, notesFollow: notesFollow, body)
        }
    }

    /// Runs the body of a program that continues after the service exits. The store is opened for
    /// reading, and closed afterwards.
    package func withLastingStore<Value>(_ body: (any EngineClient) async throws -> Value) async throws -> Value {
        let connect = { @Sendable () async throws(EngineError) -> LastingStore.Opened? in
            guard let service = try await connectToService() else { return nil }
            try await adoptExtensions(of: service)
            return .init(client: service, isService: true)
        }
        let open = { @Sendable () async throws(EngineError) -> LastingStore.Opened in
            do { return .init(client: try openEngine(.read), isService: false) } catch let error as EngineError {
                throw error
            } catch {
                throw .service(.refused(during: "open the store", reason: "\(error)"))
            }
        }
        return try await withStore(.read) { store in
            let first = LastingStore.Opened(client: store, isService: store is RemoteEngine)
            let lasting = LastingStore(first, connect: connect, open: open)
            let result: Result<Value, any Error>
            do { result = .success(try await body(lasting)) } catch { result = .failure(error) }
            await lasting.close()
            return try result.get()
        }
    }

    private func withStoreOnce<Value>(
        _ use: StoreUse, notesFollow: Bool, _ body: (any EngineClient) async throws -> Value
    ) async throws -> Value {
        let store: any EngineClient = try await waitingForOthers {
            // The process that has the store open may be a service that is starting.
            if let service = try await connectToService() {
                if !notesFollow { try await adoptExtensions(of: service) }
                return service
            }
            let scratch = scratchKeys ? try ScratchKeys(store: storeDirectory) : nil
            // Only a writer can unlock.
            let engine = try openEngine(scratch == nil ? use : .change)
            _ = await engine.carryOutRemovals()
            guard let scratch else { return engine }
            do throws(EngineError) {
                try await engine.unlock(passphrase: scratch.passphrase, creates: true)
                return engine
            } catch {
                await engine.close()
                throw error
            }
        }
        let result: Result<Value, any Error>
        do {
            if !notesFollow { warnOfOpening(try await store.perform(OpeningCall())) }
            result = .success(try await body(store))
        } catch {
            result = .failure(store.failureLeftByDamage(error, isTold: !notesFollow) ?? error)
        }
        await store.close()
        return try result.get()
    }

    /// Repeats an attempt to open the store while another process has write access, for at most the
    /// time given by `--wait`.
    ///
    /// - Throws: The error from the last attempt.
    package func waitingForOthers<Value, Failure: Error>(
        _ attempt: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let start = ContinuousClock.now
        var wasTold = false
        while true {
            do throws(Failure) {
                return try await attempt()
            } catch {
                let waited = ContinuousClock.now - start
                guard case .storeInUse(let path, let process)? = error as? EngineError, waited < .seconds(wait),
                    (try? await Task.sleep(for: Self.pause)) != nil
                else { throw error }
                guard !wasTold, waited >= Self.silentWait else { continue }
                wasTold = true
                let owner = process.map { "process \($0)" } ?? "another process"
                Output.complain("Waiting for \(owner), which changes the store at \(path) …")
            }
        }
    }

    /// The time between two attempts.
    private static let pause = Duration.milliseconds(50)
    /// The waiting time after which a message names the other process.
    private static let silentWait = Duration.milliseconds(500)

    /// Opens the store in this process.
    private func openEngine(_ use: StoreUse) throws -> SearchlightEngine {
        switch use {
        case .read: return try SearchlightEngine(try engineConfiguration(.readOnly))
        case .change: return try SearchlightEngine(try engineConfiguration(.readWrite))
        case .changeExisting:
            // Reports a missing store before one is created.
            _ = try SearchlightEngine(try engineConfiguration(.readOnly))
            return try SearchlightEngine(try engineConfiguration(.readWrite))
        case .readJournaled:
            let reader = try SearchlightEngine(try engineConfiguration(.readOnly))
            if reader.refusal != nil { return reader }
            do {
                return try SearchlightEngine(try engineConfiguration(.readWrite))
            } catch  where Self.isKeptFromWriting(error) {
                // Only applied donations can be shown.
                return reader
            }
        }
    }

    /// Returns `true` if another process writes the store, if this user may not write it, or if its
    /// repair was refused.
    private static func isKeptFromWriting(_ error: any Error) -> Bool {
        switch error {
        case EngineError.storeInUse, EngineError.storeFile, EngineError.index(.readOnly),
            EngineError.index(.losingRepair):
            true
        case let failure as CommandFailure: failure.status == .inputOutput
        default: false
        }
    }

    /// Reports the losses and pending donations that were found when the store was opened, on
    /// standard error.
    package func warnOfOpening(_ opening: StoreOpeningReport) {
        let recovery = opening.recovery
        if recovery.lostDonations || recovery.hasRepaired || recovery.wasRefused {
            for finding in recovery.findings { Output.complain("Note: \(Output.tidied(finding))") }
        }
        if recovery.lostDonations {
            Output.complain("Note: some donations may be lost. Have the apps donate again: searchlight reindex")
        }
        if opening.waitingEntries > 0 {
            Output.complain(
                """
                Note: \(counted(opening.waitingEntries, "donation")) cannot be shown: still in the write-ahead log, and the \
                store is not writable. Check who owns it.
                """)
        }
    }
}

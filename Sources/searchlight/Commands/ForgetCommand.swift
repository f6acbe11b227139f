// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AssistantServer
import CommandSupport
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport

struct ForgetCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove all data of an app from the index.",
        discussion: """
            Removes the app's items, their use counts, the log entries of assistants about them, its client states and its \
            pending reindexes. The keys of protected indexes are destroyed first. Asks first, unless --yes is given. An \
            installed extension donates all items again at its next reindex; disable or remove it first to prevent that. \
            If the command is interrupted, run it again to remove the rest.

            The receipt lists the removed data, where it was, and the data that may remain. --receipt writes the \
            receipt to a new file. --verify compares a receipt with the store.

            Exit status: 0 removed, or the store has none of the data in the receipt; 10 the store has some of it.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The bundle identifier of the app.", completion: BundleNames.completion)
    var bundle: String?
    @Flag(help: "Do not ask.")
    var yes = false
    @Option(help: ArgumentHelp("Write the receipt to this new file.", valueName: "file"), completion: .file())
    var receipt: String?
    @Option(help: ArgumentHelp("Compare this receipt with the store.", valueName: "file"), completion: .file())
    var verify: String?

    func validate() throws {
        try refuseEmpty(receipt, "--receipt")
        try refuseEmpty(verify, "--verify")
        guard verify == nil else {
            guard bundle == nil, receipt == nil, !yes else {
                throw ValidationError("--verify takes no other options: the receipt names the app.")
            }
            return
        }
        guard let bundle else { throw ValidationError("Name an app, or a receipt with --verify.") }
        try refuseEmpty(bundle, "The name of the app", instead: "“searchlight status” lists the apps.")
    }

    func perform() async throws {
        if let verify { return try await check(verify) }
        guard let bundle else { return }
        // The file must be writable before anything is removed.
        let file = try receipt.map(NewFile.init)
        do {
            try await options.withStore(.changeExisting) { store in try await forget(bundle, store, file) }
        } catch {
            file?.discard()
            throw error
        }
    }

    private func forget(_ bundle: String, _ store: any EngineClient, _ file: NewFile?) async throws {
        // Expired items are removed as well, so they are counted.
        let count = try await store.perform(StoredItemCountCall(bundle: bundle))
        let owes = try await store.perform(PendingReindexesCall()).contains { $0.bundle == bundle }
        let protection = try await store.perform(ProtectionStatusCall())
        let protected = protection.indexes.count { $0.scope.bundle == bundle }
        if count == 0, !owes, protected == 0 {
            guard try await isGone(bundle, in: store) else {
                let counts = try await store.perform(ItemCountsCall())
                throw CommandFailure(message: unknownBundle(bundle, among: counts.keys.sorted()), status: .notFound)
            }
        }
        // Locked items are not counted.
        let locked = protection.isUnlocked ? 0 : protected
        let lockedPart = locked > 0 ? " and all items of \(locked) locked \(locked == 1 ? "index" : "indexes")" : ""
        let items = counted(count, "item") + lockedPart
        let what = "\(items) of \(bundle), its client states and its pending reindexes"
        let donatesAgain = try await hasExtension(bundle, in: store)
        // Before the question, so that the user can answer no and disable the extension first.
        if donatesAgain, !options.json {
            Output.complain(
                """
                Note: The extension \(bundle) is installed, and donates everything again at its next reindex. To prevent \
                that: searchlight extensions disable \(bundle)
                """)
        }
        if !yes { try Confirmation.ask("remove", what, json: options.json) }
        let report = try await store.perform(RemoveCall(bundle: bundle))
        var receipt = report.receipt
        do throws(AssistantFileError) {
            let log = AssistantLog(store: options.storeDirectory)
            let entries = try log.entries().count { $0.bundles.contains(bundle) }
            try log.clear(bundle: bundle)
            if entries > 0 {
                receipt.removed.append(
                    ForgetReceipt.Removed(what: "log entries of assistants", place: "assistants.log", count: entries))
            }
        } catch {
            Output.complain("Note: \(error.description)")
            receipt.remaining.append("The log of assistants may have entries about the app.")
        }
        try file?.write(receipt.data())
        if options.json {
            return try Output.printJSON(
                [
                    "bundle": bundle, "deleted": report.items, "donatesAgain": donatesAgain,
                    "receipt": try ForgetReceipt(receipt.data()),
                ] as JSONObject)
        }
        try Output.line("\(bundle) is forgotten: \(counted(report.items, "item"))\(lockedPart) deleted.")
        for line in receipt.lines { try Output.line("\(Output.tidied(line))") }
    }

    /// `true` if a bundle is an installed extension that may receive requests.
    private func hasExtension(_ bundle: String, in store: any EngineClient) async throws -> Bool {
        try await store.perform(ExtensionListingCall()).extensions.contains {
            $0.identifier == bundle && $0.state != .disabled
        }
    }

    /// `true` if the bundle is an extension that was removed, as the listing reports, if its
    /// removal was interrupted, or if a file of a protected index came back.
    private func isGone(_ bundle: String, in store: any EngineClient) async throws -> Bool {
        if try await store.perform(UnfinishedRemovalsCall()).contains(bundle) { return true }
        if let log = try? AssistantLog(store: options.storeDirectory).entries(),
            log.contains(where: { $0.bundles.contains(bundle) })
        {
            return true
        }
        return try await store.perform(ExtensionListingCall()).removals.contains { $0.bundle == bundle }
    }

    private func check(_ path: String) async throws {
        let receipt: ForgetReceipt
        do {
            receipt = try ForgetReceipt(Data(BoundedFile.regular(path, limit: ForgetReceipt.maximumBytes)))
        } catch {
            throw CommandFailure(message: "\(path) cannot be checked: \(error)", status: .inputOutput)
        }
        var check = try await options.withStore(.read) { store in
            try await store.perform(VerifyReceiptCall(receipt: receipt))
        }
        // The log has times since 1970.
        let moment = Date(timeIntervalSinceReferenceDate: receipt.moment).timeIntervalSince1970
        do throws(AssistantFileError) {
            let entries = try AssistantLog(store: options.storeDirectory).entries()
            if entries.contains(where: { $0.bundles.contains(receipt.bundle) && $0.time < moment }) {
                check.findings.append("assistants.log has entries about the app from before the removal.")
            }
        } catch {
            Output.complain("Note: \(error.description)")
        }
        if options.json {
            try Output.printJSON(
                [
                    "bundle": receipt.bundle, "findings": check.findings, "later": check.later,
                    "laterLocked": check.laterLocked ?? 0,
                ] as JSONObject)
        } else {
            for finding in check.findings { Output.complain("\(Output.tidied(finding))") }
            if check.findings.isEmpty { try Output.line("Nothing of the receipt is in the store.") }
            if check.later > 0 {
                try Output.line("\(receipt.bundle) has donated \(counted(check.later, "item")) since.")
            }
            if let locked = check.laterLocked, locked > 0 {
                try Output.line(
                    """
                    \(receipt.bundle) has donated since to \(locked == 1 ? "1 index" : "\(locked) indexes") whose items \
                    are locked. To count them: searchlight unlock
                    """)
            }
        }
        guard check.findings.isEmpty else { throw ExitCode(ExitStatus.damageFound.rawValue) }
    }
}

extension ForgetReceipt {
    /// The receipt for a reader.
    fileprivate var lines: [String] {
        let keys = protectedFiles.map { file in
            let keys = file.keysAreOverwritten ? "keys overwritten, file removed" : "file removed"
            return "  \(file.path)\(file.index.isEmpty ? "" : " (\(file.index))"): \(keys)"
        }
        let rest = removed.map { "  \($0.place.isEmpty ? "memory" : $0.place): \($0.what), \($0.count)" }
        let note = remaining.map { "Note: \($0)" }
        return (keys.isEmpty && rest.isEmpty ? [] : ["Removed:"]) + keys + rest + note
    }
}

/// A file that did not exist before.
private final class NewFile {
    let path: String
    private var isWritten = false

    /// Creates the file, empty.
    init(_ path: String) throws {
        self.path = path
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            let reason = String(cString: strerror(errno)).lowercased()
            throw CommandFailure(
                message: "The receipt \(path) cannot be written: \(reason). Nothing was removed.", status: .inputOutput)
        }
        close(number)
    }

    func write(_ data: Data) throws {
        do {
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.write(contentsOf: data + Data("\n".utf8))
            try file.synchronize()
            try file.close()
            isWritten = true
        } catch {
            throw CommandFailure(
                message: "The app's data is removed, but the receipt \(path) cannot be written: \(error)",
                status: .inputOutput)
        }
    }

    /// Removes the file if the receipt was not written to it. A written receipt stays, because the
    /// removal cannot be repeated to get another one.
    func discard() { if !isWritten { unlink(path) } }
}

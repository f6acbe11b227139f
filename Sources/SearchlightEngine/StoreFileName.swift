// SPDX-License-Identifier: Apache-2.0

/// The files that other modules keep in a store's folder. ``StoreInspection`` checks them with the
/// others, and their modules open them with `OwnFile`.
package enum StoreFileName: String, CaseIterable {
    /// The grants of assistants, and the lock for changes to them.
    case assistantGrants = "assistants.json"
    case assistantGrantsLock = "assistants.json.lock"
    /// The log of the requests of assistants.
    case assistantLog = "assistants.log"
    /// The changes that `searchlight setup` made.
    case setupRecord = "setup.json"

    /// Returns the path of the file in a store's folder.
    package func path(inStore folder: String) -> String { folder + "/" + rawValue }
}

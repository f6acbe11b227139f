// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
import Foundation
internal import ItemRecord
internal import ServiceMessages
import Synchronization

/// The handlers for activities that the user continues in this process, and the replies to the
/// service about them.
final class ContinuationHandlers: Sendable {
    private struct State {
        var handler: NSUserActivity.ContinuationHandler?
        var actions: [String: @Sendable (NSUserActivity) -> Void] = [:]
        var isWanted = false
    }
    private let state = Mutex(State())
    private let queue = HandlerQueue.serial("searchlight.continuations")
    /// Called when the first handler is set (`true`) and after the last one was removed (`false`).
    /// Must not block.
    private let onChange: @Sendable (Bool) -> Void
    /// Reads one of the app's items; `nil` if there is none.
    private let record: @Sendable (String) async -> [UInt8]?

    init(
        record: @escaping @Sendable (String) async -> [UInt8]?, onChange: @escaping @Sendable (Bool) -> Void
    ) {
        (self.record, self.onChange) = (record, onChange)
    }

    func set(_ handler: NSUserActivity.ContinuationHandler?) {
        state.withLock { state in
            state.handler = handler
            update(&state)
        }
    }

    func set(_ action: @escaping @Sendable (NSUserActivity) -> Void, for activityType: String) {
        state.withLock { state in
            state.actions[activityType] = action
            update(&state)
        }
    }

    private func update(_ state: inout State) {
        let isWanted = state.handler != nil || !state.actions.isEmpty
        guard isWanted != state.isWanted else { return }
        state.isWanted = isWanted
        onChange(isWanted)
    }

    /// Accepts a call from the service; never blocks.
    func receive(_ call: IncomingCall) {
        do throws(BusError) {
            let continued = try ContinuedActivity(call)
            Task { [self] in
                let activity = await activity(continued)
                queue.async { call.reply([.boolean(self.take(activity))]) }
            }
        } catch .remote(let name, let message) {
            call.refuse(name: name, message: message)
        } catch {
            call.refuse(name: BusErrorName.invalidArguments, message: error.description)
        }
    }

    /// Calls an activity's handler. Returns `false` if no handler accepts the activity.
    private func take(_ activity: NSUserActivity) -> Bool {
        let (action, handler) = state.withLock { ($0.actions[activity.activityType], $0.handler) }
        if let action {
            action(activity)
            return true
        }
        return handler?(activity) { objects in
            for object in objects ?? [] { object.restoreUserActivityState(activity) }
        } ?? false
    }

    /// Returns the activity in Apple's form. An item that was donated for an activity is converted
    /// back to that activity.
    func activity(_ continued: ContinuedActivity) async -> NSUserActivity {
        switch continued {
        case .search(let text):
            let activity = NSUserActivity(activityType: CSQueryContinuationActionType)
            activity.userInfo = [CSSearchQueryString: text]
            return activity
        case .item(let identifier):
            if identifier.hasPrefix(ActivityItem.identifierPrefix), let bytes = await record(identifier),
                let record = try? ItemRecord(decoding: bytes),
                let donated = NSUserActivity(searchableItem: CSSearchableItem(record))
            {
                return donated
            }
            let activity = NSUserActivity(activityType: CSSearchableItemActionType)
            activity.userInfo = [CSSearchableItemActivityIdentifier: identifier]
            return activity
        }
    }
}

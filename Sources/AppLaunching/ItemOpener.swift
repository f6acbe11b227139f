// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Opens items and continues searches: passes the activity to the running app, or else starts the
/// app. May be used from any task.
///
/// ```swift
/// let opened = try await ItemOpener(environment: environment, activities: activities).open(target)
/// ```
package struct ItemOpener: Sendable {
    private let environment: [String: String]
    private let launcher: AppLauncher
    private let activities: any ActivityCarrier

    /// The plan by which an item was opened, and the outcome.
    package struct Opened: Sendable {
        package var plan: LaunchPlan
        package var outcome: AppLauncher.Outcome
    }

    /// Creates an opener.
    ///
    /// - Parameters:
    ///   - environment: The environment for started programs, which also determines the folders
    ///     with desktop entries.
    ///   - activities: The channel to running apps.
    package init(environment: [String: String], activities: any ActivityCarrier, launcher: AppLauncher? = nil) {
        (self.environment, self.activities) = (environment, activities)
        self.launcher = launcher ?? AppLauncher(environment: environment)
    }

    /// Chooses the launch method, without starting anything.
    ///
    /// - Throws: ``LaunchError``, as ``LaunchPlanner/plan(_:)`` does.
    package func plan(_ target: LaunchTarget) async throws(LaunchError) -> LaunchPlan {
        let result: Result<LaunchPlan, LaunchError> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { [environment] in
                let planner = LaunchPlanner(environment: environment)
                continuation.resume(returning: Result { () throws(LaunchError) in try planner.plan(target) })
            }
        }
        return try result.get()
    }

    /// Opens an item.
    ///
    /// - Throws: ``LaunchError``.
    package func open(_ target: LaunchTarget) async throws(LaunchError) -> Opened {
        var target = target
        while true {
            let plan = try await plan(target)
            switch plan.delivery {
            case .activity where plan.way == .runningApp:
                if await activities.offer(target.activity, to: target.bundle) {
                    return Opened(plan: plan, outcome: .init(kind: .continued))
                }
                // The app has exited, or does not know the item.
                target.hasHandler = false
            case .activity:
                guard let held = await activities.hold(target.activity, for: target.bundle) else {
                    target.canHold = false
                    continue
                }
                return Opened(plan: plan, outcome: try await launch(plan, held))
            case .file, .url, .nothing: return Opened(plan: plan, outcome: try await launcher.launch(plan))
            }
        }
    }

    private func launch(_ plan: LaunchPlan, _ held: HeldActivity) async throws(LaunchError) -> AppLauncher.Outcome {
        if held.isStarting {
            guard await activities.isTaken(held.number) else { throw AppLauncher.notTaken(plan) }
            return .init(kind: .continued)
        }
        do throws(LaunchError) {
            return try await launcher.launch(plan) { await activities.isTaken(held.number) }
        } catch {
            await activities.drop(held.number)
            throw error
        }
    }
}

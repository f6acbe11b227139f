// SPDX-License-Identifier: Apache-2.0
import AppLaunching

/// Offers an activity to a running app. The answer is `false` if no app accepts it.
struct OfferActivityCall: ClientCall {
    var purpose: String { "give an activity to an app" }
    var activity: LaunchActivity
    var bundle: String

    func perform(_ context: CallContext) async throws(EngineError) -> Bool {
        await context.service?.activities()?.offer(activity, to: bundle) ?? false
    }
}

/// Stores an activity for an app that is about to be launched. The answer is `nil` without a
/// service.
struct HoldActivityCall: ClientCall {
    var purpose: String { "keep an activity for an app" }
    var activity: LaunchActivity
    var bundle: String

    /// The stored activity; D-Bus has no absent value.
    struct Answer: Codable, Sendable {
        var held: HeldActivity?
    }

    func perform(_ context: CallContext) async throws(EngineError) -> Answer {
        Answer(held: await context.service?.activities()?.hold(activity, for: bundle))
    }
}

/// Waits until an app has taken a stored activity. The answer is `false` if no app does in time.
struct AwaitActivityCall: ClientCall {
    var purpose: String { "wait for an app" }
    var number: UInt64

    func perform(_ context: CallContext) async throws(EngineError) -> Bool {
        await context.service?.activities()?.isTaken(number) ?? false
    }
}

/// Drops a stored activity.
struct DropActivityCall: ClientCall {
    var purpose: String { "drop an activity" }
    var number: UInt64

    func perform(_ context: CallContext) async throws(EngineError) -> Done {
        await context.service?.activities()?.drop(number)
        return Done()
    }
}

/// The channel to running apps through a store's service. Without a service it reaches no app.
package struct ClientActivities: ActivityCarrier {
    private let store: any EngineClient

    /// Creates a channel through a store.
    package init(_ store: any EngineClient) { self.store = store }

    /// Always returns `false`. ``LaunchTarget/hasHandler`` contains the service's answer.
    package func hasHandler(of bundle: String) -> Bool { false }

    package func offer(_ activity: LaunchActivity, to bundle: String) async -> Bool {
        (try? await store.perform(OfferActivityCall(activity: activity, bundle: bundle))) ?? false
    }

    package func hold(_ activity: LaunchActivity, for bundle: String) async -> HeldActivity? {
        (try? await store.perform(HoldActivityCall(activity: activity, bundle: bundle)))?.held
    }

    package func isTaken(_ number: UInt64) async -> Bool {
        (try? await store.perform(AwaitActivityCall(number: number))) ?? false
    }

    package func drop(_ number: UInt64) async {
        _ = try? await store.perform(DropActivityCall(number: number))
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The chosen method for opening an item, and the reasons.
package struct LaunchPlan: Hashable, Sendable {
    /// The methods for opening an item, in the order in which they are tried.
    package enum Way: String, Sendable, Codable, CaseIterable {
        /// The running app, which has registered a handler for activities.
        case runningApp
        /// D-Bus activation of the app (`org.freedesktop.Application`).
        case busActivation
        /// The command line of the app's desktop entry.
        case desktopEntry
        /// The default app for the item's file or URL.
        case defaultHandler
    }

    /// The part of the item that the app receives.
    package enum Delivery: String, Sendable, Codable {
        /// The activity: the item's identifier or a search text.
        case activity
        case file
        case url
        /// The app is only started or raised.
        case nothing
    }

    /// A call of `org.freedesktop.Application`.
    package struct BusStart: Hashable, Sendable {
        /// The app's name on the session bus.
        package var name: String
        /// The URIs to open; empty to only activate the app.
        package var uris: [String]
    }

    /// A program and its arguments.
    package struct Command: Hashable, Sendable {
        /// The absolute path of the program.
        package var program: String
        /// The arguments; the first is the program's name.
        package var words: [String]
        /// The working directory; `nil` for the user's home folder.
        package var folder: String?
    }

    /// A method that was not chosen.
    package struct PassedOver: Hashable, Sendable {
        /// The way.
        package var way: Way
        /// The reason, as a sentence without a full stop.
        package var reason: String
    }

    /// The chosen method.
    package var way: Way
    /// The identifier of the desktop entry.
    package var entry: String
    /// The name of the app.
    package var app: String
    /// The D-Bus call, which is tried first.
    package var bus: BusStart?
    /// The command to use if there is no D-Bus call or the bus cannot start the app.
    package var command: Command?
    /// The part of the item that the app receives.
    package var delivery: Delivery
    /// The reason for the choice, as a sentence without a full stop.
    package var reason: String
    /// The methods that precede the chosen one, with the reasons against them.
    package var passedOver: [PassedOver]

    init(
        way: Way, entry: String, app: String, bus: BusStart? = nil, command: Command? = nil, delivery: Delivery,
        reason: String, passedOver: [PassedOver]
    ) {
        (self.way, self.entry, self.app, self.bus, self.command) = (way, entry, app, bus, command)
        (self.delivery, self.reason, self.passedOver) = (delivery, reason, passedOver)
    }

    /// Creates the plan that starts an app with its own arguments, without an item.
    ///
    /// - Parameters:
    ///   - program: The absolute path of the program.
    ///   - reason: See ``reason``.
    package init(app: String, entry: String, program: String, arguments: [String], reason: String) {
        self.init(
            way: .desktopEntry, entry: entry, app: app,
            command: Command(program: program, words: [program] + arguments),
            delivery: .nothing, reason: reason, passedOver: [])
    }
}

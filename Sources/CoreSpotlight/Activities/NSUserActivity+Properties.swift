// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSUserActivity {
    /// The title to show; without one the activity is not found.
    public var title: String? {
        get { current.title }
        set { change(\.title, to: newValue) }
    }

    /// What the app needs to go on with the activity: property-list values, URLs and sets of these, by name.
    public var userInfo: [AnyHashable: Any]? {
        get { current.userInfo }
        set { change(\.userInfo, to: newValue) }
    }

    /// Adds to the user info, and replaces what it has under the same names.
    public func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        userInfo = (userInfo ?? [:]).merging(otherDictionary) { _, new in new }
    }

    /// Which parts of the user info are kept with the item.
    public var requiredUserInfoKeys: Set<String>? {
        get { current.requiredUserInfoKeys }
        set { change(\.requiredUserInfoKeys, to: newValue) }
    }

    /// The web page that shows the same; `http` or `https`.
    ///
    /// - Note: Differs on Linux: an address with another scheme is kept here and not in the index, where Apple's systems end
    ///   the process.
    public var webpageURL: URL? {
        get { current.webpageURL }
        set { change(\.webpageURL, to: newValue) }
    }

    /// Where the web page was reached from.
    ///
    /// - Note: Unused on Linux: nothing shows it.
    public var referrerURL: URL? {
        get { current.referrerURL }
        set { change(\.referrerURL, to: newValue) }
    }

    /// When the activity leaves the index; `nil` for a month after the donation.
    public var expirationDate: Date? {
        get { current.expirationDate }
        set { change(\.expirationDate, to: newValue) }
    }

    /// Words by which the activity is found too.
    public var keywords: Set<String> {
        get { current.keywords }
        set { change(\.keywords, to: newValue) }
    }

    /// What is known about the activity, for the index; copied when it is set. Its `relatedUniqueIdentifier` ties the
    /// activity to an item: without that item it is not in the index.
    public var contentAttributeSet: CSSearchableItemAttributeSet? {
        get { current.attributes }
        set { change(\.attributes, to: newValue?.copy() as? CSSearchableItemAttributeSet) }
    }

    /// Whether the activity is donated when it becomes current. False unless set.
    public var isEligibleForSearch: Bool {
        get { current.isEligibleForSearch }
        set { change(\.isEligibleForSearch, to: newValue) }
    }

    /// Whether other devices may go on with the activity. True unless set.
    ///
    /// - Note: Unused on Linux: there is no Handoff.
    public var isEligibleForHandoff: Bool {
        get { current.isEligibleForHandoff }
        set { change(\.isEligibleForHandoff, to: newValue) }
    }

    /// Whether others may find the activity. False unless set.
    ///
    /// - Note: Unused on Linux: the index is the person's own.
    public var isEligibleForPublicIndexing: Bool {
        get { current.isEligibleForPublicIndexing }
        set { change(\.isEligibleForPublicIndexing, to: newValue) }
    }

    /// Whether the system may suggest the activity by itself. False unless set.
    ///
    /// - Note: Unused on Linux: nothing suggests activities.
    public var isEligibleForPrediction: Bool {
        get { current.isEligibleForPrediction }
        set { change(\.isEligibleForPrediction, to: newValue) }
    }

    /// The name by which the activity is deleted, and replaced.
    public var persistentIdentifier: NSUserActivityPersistentIdentifier? {
        get { current.persistentIdentifier }
        set { change(\.persistentIdentifier, to: newValue) }
    }

    /// Which of the app's windows shows the activity. Kept with the item, for the app.
    public var targetContentIdentifier: String? {
        get { current.targetContentIdentifier }
        set { change(\.targetContentIdentifier, to: newValue) }
    }

    /// Whether the app that goes on with the activity may talk to this one. False unless set.
    ///
    /// - Note: Unused on Linux: there is no Handoff.
    public var supportsContinuationStreams: Bool {
        get { current.supportsContinuationStreams }
        set { change(\.supportsContinuationStreams, to: newValue) }
    }

    /// Asks for streams to the device that the activity comes from.
    ///
    /// - Note: Fails on Linux: with `CocoaError.featureUnsupported`, for there is no Handoff.
    @preconcurrency
    public func getContinuationStreams(
        completionHandler: @escaping @Sendable (InputStream?, OutputStream?, (any Error)?) -> Void
    ) {
        HandlerQueue.shared.async { completionHandler(nil, nil, Self.noHandoff) }
    }

    /// Asks for streams to the device that the activity comes from.
    ///
    /// - Note: Fails on Linux: with `CocoaError.featureUnsupported`, for there is no Handoff.
    public func continuationStreams() async throws -> (InputStream, OutputStream) { throw Self.noHandoff }

    private static var noHandoff: CocoaError {
        CocoaError(
            .featureUnsupported,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Streams to the device that an activity comes from are part of Handoff, which Linux does not have."
            ])
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// The handle by which an activity is deleted; the app chooses it.
public typealias NSUserActivityPersistentIdentifier = String

// Apple's name, whose first letters are capitals.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The type of an activity that is a web page.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

/// Something a person does in an app, such as reading a page, that can be found and gone on with later.
///
/// An activity with ``isEligibleForSearch`` and a title is donated to the app's default index when it becomes current, and
/// again when ``needsSave`` is set while it is. The item is made as follows:
/// - Its identifier is ``persistentIdentifier`` behind `com.searchlight.activity:`, so that a later activity replaces an
///   earlier one with the same; without one, each activity object is an item of its own.
/// - Its domain is the `domainIdentifier` of ``contentAttributeSet``, and `com.searchlight.activities` if that has none.
/// - It expires at ``expirationDate``, or a month after the donation.
/// - Its attributes are those of ``contentAttributeSet``, with ``title``, ``keywords``, ``webpageURL`` as `url` and the
///   moment as `lastUsedDate`.
/// - Type, user info and the rest needed to go on with it are kept with the item; of the user info what
///   ``requiredUserInfoKeys`` names, and all of it where there are no such keys and no ``webpageURL``.
///   ``init(searchableItem:)`` makes the activity again.
///
/// An activity that is not eligible, or has no title, is not donated: that is what these properties are for. Donations are
/// acknowledged to nobody, as on Apple's systems: while the index cannot be reached the activity is not found.
///
/// One thread at a time may change an activity. Linux has no Handoff and no predictions; what belongs to them is kept and
/// says so.
open class NSUserActivity: NSObject, @unchecked Sendable {
    // Sendable: `state` is read and written under the lock only; the objects in it are the caller's to guard, as on Apple's
    // systems.
    // What subclasses override must stand in the class itself: members of extensions cannot be overridden.

    struct State {
        var title: String?
        var userInfo: [AnyHashable: Any]?
        var requiredUserInfoKeys: Set<String>?
        var webpageURL: URL?
        var referrerURL: URL?
        var expirationDate: Date?
        var keywords: Set<String> = []
        var attributes: CSSearchableItemAttributeSet?
        var isEligibleForHandoff = true
        var isEligibleForSearch = false
        var isEligibleForPublicIndexing = false
        var isEligibleForPrediction = false
        var suggestedInvocationPhrase: String?
        var persistentIdentifier: NSUserActivityPersistentIdentifier?
        var targetContentIdentifier: String?
        var supportsContinuationStreams = false
        var needsSave = false
        var isInvalid = false
        weak var delegate: (any NSUserActivityDelegate)?
    }

    /// What kind of activity it is, in reverse-DNS form.
    public let activityType: String

    /// Names the item of an activity without a persistent identifier.
    let ownIdentifier = UUID().uuidString
    /// Where the activity is donated.
    let index = ProcessTransports.defaultIndex()
    private let place = ProcessTransports.currentActivity()
    private let lock = NSLock()
    private var state = State()

    /// An activity of a type, which Apple asks to be named in `NSUserActivityTypes` of the app's property list.
    public init(activityType: String) { self.activityType = activityType }

    /// An activity of the first type that the property list of the app names in `NSUserActivityTypes`; without one its type
    /// is empty.
    public convenience override init() {
        let types = Bundle.main.object(forInfoDictionaryKey: "NSUserActivityTypes") as? [String]
        self.init(activityType: types?.first ?? "")
    }

    /// The state as it is now.
    var current: State { lock.withLock { state } }

    func change<Value>(_ field: WritableKeyPath<State, Value>, to value: Value) {
        let old = lock.withLock {
            defer { state[keyPath: field] = value }
            return state[keyPath: field]
        }
        // Freed outside of the lock.
        _ = old
    }

    // MARK: Becoming current

    /// Makes this the activity that the person is at, instead of the one before, and donates it. The delegate is asked first
    /// to bring it up to date, if ``needsSave`` is set. Does nothing after ``invalidate()``: an invalid activity is over.
    open func becomeCurrent() {
        guard !current.isInvalid else { return }
        place.take(self)
        save()
    }

    /// The person is not at this activity any more. What was donated stays in the index.
    open func resignCurrent() { place.leave(self) }

    /// Ends the activity for good. What was donated stays in the index.
    open func invalidate() {
        change(\.isInvalid, to: true)
        resignCurrent()
    }

    var isCurrent: Bool { place.isTaken(by: self) }

    /// Asks the delegate, if it is time to, and donates.
    func save() {
        if current.needsSave {
            current.delegate?.userActivityWillSave(self)
            change(\.needsSave, to: false)
        }
        guard let item = searchableItem else { return }
        index.indexSearchableItems([item])
    }

    /// Whether what is said of the activity is no longer what is saved. Setting it while the activity is current has the
    /// delegate asked, on a queue of the library, and the activity donated again; false afterwards.
    open var needsSave: Bool {
        get { current.needsSave }
        set {
            let wasSet = current.needsSave
            change(\.needsSave, to: newValue)
            guard newValue, !wasSet, isCurrent else { return }
            HandlerQueue.shared.async { [weak self] in
                guard let self, self.isCurrent, self.needsSave else { return }
                self.save()
            }
        }
    }

    /// Whom to ask to bring the activity up to date; not retained.
    open weak var delegate: (any NSUserActivityDelegate)? {
        get { current.delegate }
        set { change(\.delegate, to: newValue) }
    }

    // MARK: What is said of it

    /// The title to show; without one the activity is not found.
    open var title: String? {
        get { current.title }
        set { change(\.title, to: newValue) }
    }

    /// What the app needs to go on with the activity: property-list values, URLs and sets of these, by name.
    open var userInfo: [AnyHashable: Any]? {
        get { current.userInfo }
        set { change(\.userInfo, to: newValue) }
    }

    /// Adds to the user info, and replaces what it has under the same names.
    open func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        userInfo = (userInfo ?? [:]).merging(otherDictionary) { _, new in new }
    }

    /// Which parts of the user info are kept with the item.
    open var requiredUserInfoKeys: Set<String>? {
        get { current.requiredUserInfoKeys }
        set { change(\.requiredUserInfoKeys, to: newValue) }
    }

    /// The web page that shows the same; `http` or `https`.
    ///
    /// - Note: Differs on Linux: an address with another scheme is kept here and not in the index, where Apple's systems end
    ///   the process.
    open var webpageURL: URL? {
        get { current.webpageURL }
        set { change(\.webpageURL, to: newValue) }
    }

    /// Where the web page was reached from.
    ///
    /// - Note: Unused on Linux: nothing shows it.
    open var referrerURL: URL? {
        get { current.referrerURL }
        set { change(\.referrerURL, to: newValue) }
    }

    /// When the activity leaves the index; `nil` for a month after the donation.
    open var expirationDate: Date? {
        get { current.expirationDate }
        set { change(\.expirationDate, to: newValue) }
    }

    /// Words by which the activity is found too.
    open var keywords: Set<String> {
        get { current.keywords }
        set { change(\.keywords, to: newValue) }
    }

    /// What is known about the activity, for the index; copied when it is set. Its `relatedUniqueIdentifier` ties the
    /// activity to an item: without that item it is not in the index.
    open var contentAttributeSet: CSSearchableItemAttributeSet? {
        get { current.attributes }
        set { change(\.attributes, to: newValue?.copy() as? CSSearchableItemAttributeSet) }
    }

    /// Whether the activity is donated when it becomes current. False unless set.
    open var isEligibleForSearch: Bool {
        get { current.isEligibleForSearch }
        set { change(\.isEligibleForSearch, to: newValue) }
    }

    /// Whether other devices may go on with the activity. True unless set.
    ///
    /// - Note: Unused on Linux: there is no Handoff.
    open var isEligibleForHandoff: Bool {
        get { current.isEligibleForHandoff }
        set { change(\.isEligibleForHandoff, to: newValue) }
    }

    /// Whether others may find the activity. False unless set.
    ///
    /// - Note: Unused on Linux: the index is the person's own.
    open var isEligibleForPublicIndexing: Bool {
        get { current.isEligibleForPublicIndexing }
        set { change(\.isEligibleForPublicIndexing, to: newValue) }
    }

    /// Whether the system may suggest the activity by itself. False unless set.
    ///
    /// - Note: Unused on Linux: nothing suggests activities.
    open var isEligibleForPrediction: Bool {
        get { current.isEligibleForPrediction }
        set { change(\.isEligibleForPrediction, to: newValue) }
    }

    /// What a person may say to a voice assistant for this activity.
    ///
    /// - Note: Unused on Linux: there is no voice assistant.
    open var suggestedInvocationPhrase: String? {
        get { current.suggestedInvocationPhrase }
        set { change(\.suggestedInvocationPhrase, to: newValue) }
    }

    /// The name by which the activity is deleted, and replaced.
    open var persistentIdentifier: NSUserActivityPersistentIdentifier? {
        get { current.persistentIdentifier }
        set { change(\.persistentIdentifier, to: newValue) }
    }

    /// Which of the app's windows shows the activity. Kept with the item, for the app.
    open var targetContentIdentifier: String? {
        get { current.targetContentIdentifier }
        set { change(\.targetContentIdentifier, to: newValue) }
    }

    /// Whether the app that goes on with the activity may talk to this one. False unless set.
    ///
    /// - Note: Unused on Linux: there is no Handoff.
    open var supportsContinuationStreams: Bool {
        get { current.supportsContinuationStreams }
        set { change(\.supportsContinuationStreams, to: newValue) }
    }

    /// Asks for streams to the device that the activity comes from.
    ///
    /// - Note: Fails on Linux: with `CocoaError.featureUnsupported`, for there is no Handoff.
    @preconcurrency
    open func getContinuationStreams(
        completionHandler: @escaping @Sendable (InputStream?, OutputStream?, (any Error)?) -> Void
    ) {
        HandlerQueue.shared.async { completionHandler(nil, nil, Self.noHandoff) }
    }

    /// Asks for streams to the device that the activity comes from.
    ///
    /// - Note: Fails on Linux: with `CocoaError.featureUnsupported`, for there is no Handoff.
    open func continuationStreams() async throws -> (InputStream, OutputStream) { throw Self.noHandoff }

    // MARK: Deleting

    /// Deletes the activities with these persistent identifiers from the index, then calls the handler, on a queue of the
    /// library. Identifiers of no activity are ignored. As Apple's method has no errors, a deletion that fails is not
    /// reported: activities in an index that cannot be reached stay.
    @preconcurrency
    open class func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier],
        completionHandler handler: @escaping @Sendable () -> Void
    ) {
        delete(persistentIdentifiers, handler)
    }

    /// Deletes the activities with these persistent identifiers from the index. Identifiers of no activity are ignored.
    /// As Apple's method has no errors, a deletion that fails is not reported: activities in an index that cannot be reached
    /// stay.
    open class func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier]
    ) async {
        await withCheckedContinuation { continuation in
            deleteSavedUserActivities(withPersistentIdentifiers: persistentIdentifiers) { continuation.resume() }
        }
    }

    /// Deletes all activities of the app from the index, then calls the handler, on a queue of the library. Those with a
    /// domain of their own are looked for in the index, 100,000 at most; in an extension, which cannot query, they stay. As
    /// Apple's method has no errors, a deletion that fails is not reported: activities in an index that cannot be reached stay.
    @preconcurrency
    open class func deleteAllSavedUserActivities(completionHandler handler: @escaping @Sendable () -> Void) {
        deleteAll(handler)
    }

    /// Deletes all activities of the app from the index. Those with a domain of their own are looked for in the index, 100,000
    /// at most; in an extension, which cannot query, they stay. As Apple's method has no errors, a deletion that fails is not
    /// reported: activities in an index that cannot be reached stay.
    open class func deleteAllSavedUserActivities() async {
        await withCheckedContinuation { continuation in
            deleteAllSavedUserActivities { continuation.resume() }
        }
    }
}

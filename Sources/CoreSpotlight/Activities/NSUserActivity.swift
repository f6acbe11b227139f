// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// An identifier that the app chooses for an activity, so that it can delete the activity later.
public typealias NSUserActivityPersistentIdentifier = String

// Apple's name begins with a capital letter.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The type of an activity that continues browsing a web page.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

/// A user's activity in an app, such as reading a page, that the user can find and continue later.
///
/// An activity with ``isEligibleForSearch`` and a title is donated to the app's default index when
/// it becomes current. It is donated again when ``needsSave`` is set while it is current. The item
/// has these properties:
/// - The identifier is `com.searchlight.activity:` followed by ``persistentIdentifier``, so that a
///   later activity with the same identifier replaces an earlier one. Without a persistent
///   identifier, each activity object is a separate item.
/// - The domain is the `domainIdentifier` of ``contentAttributeSet``, or
///   `com.searchlight.activities`.
/// - The expiration date is ``expirationDate``, or a month after the donation.
/// - The attributes come from ``contentAttributeSet``, with ``title``, ``keywords``, ``webpageURL``
///   as `url`, and the time of the donation as `lastUsedDate`.
/// - The item also stores the type, the user info and the other values that are needed to continue
///   the activity. From the user info it stores the keys in ``requiredUserInfoKeys``, or everything
///   if there are no such keys and no ``webpageURL``. ``init(searchableItem:)`` recreates the
///   activity.
///
/// An activity that is not eligible, or has no title, is not donated. Donations are not
/// acknowledged, as on Apple's systems: if the index cannot be reached, the activity cannot be
/// found.
///
/// Change an activity from one thread at a time. Linux has no Handoff and no predictions; the
/// related properties are stored but unused, as their documentation says.
open class NSUserActivity: NSObject, @unchecked Sendable {
    // Sendable: `state` is read and written only under the lock. The caller must protect the
    // objects in it, as on Apple's systems. Overridable members must be declared in the class
    // itself, because members of extensions cannot be overridden.

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

    /// The type of the activity, in reverse-DNS form.
    public let activityType: String

    /// The item's identifier if there is no persistent identifier.
    let ownIdentifier = UUID().uuidString
    /// The index that receives the donations.
    let index = ProcessTransports.defaultIndex()
    private let place = ProcessTransports.currentActivity()
    private let lock = NSLock()
    private var state = State()

    /// Creates an activity with a type. Apple requires the type to be in `NSUserActivityTypes` in
    /// the app's property list.
    public init(activityType: String) { self.activityType = activityType }

    /// Creates an activity with the first type in `NSUserActivityTypes` in the app's property list,
    /// or with an empty type.
    public convenience override init() {
        let types = Bundle.main.object(forInfoDictionaryKey: "NSUserActivityTypes") as? [String]
        self.init(activityType: types?.first ?? "")
    }

    /// A copy of the current state.
    var current: State { lock.withLock { state } }

    func change<Value>(_ field: WritableKeyPath<State, Value>, to value: Value) {
        let old = lock.withLock {
            defer { state[keyPath: field] = value }
            return state[keyPath: field]
        }
        // Released outside the lock.
        _ = old
    }

    // MARK: Becoming current

    /// Makes this the user's current activity, and donates it.
    ///
    /// If ``needsSave`` is set, the delegate updates the activity first. Does nothing after
    /// ``invalidate()``.
    open func becomeCurrent() {
        guard !current.isInvalid else { return }
        place.take(self)
        save()
    }

    /// Makes the activity no longer the current one. Its donation stays in the index.
    open func resignCurrent() { place.leave(self) }

    /// Invalidates the activity permanently. Its donation stays in the index.
    open func invalidate() {
        change(\.isInvalid, to: true)
        resignCurrent()
    }

    var isCurrent: Bool { place.isTaken(by: self) }

    /// Lets the delegate update the activity if necessary, and donates it.
    func save() {
        if current.needsSave {
            current.delegate?.userActivityWillSave(self)
            change(\.needsSave, to: false)
        }
        guard let item = searchableItem else { return }
        index.indexSearchableItems([item])
    }

    /// A Boolean value that indicates whether the activity has unsaved changes.
    ///
    /// If you set it while the activity is current, the delegate is called on one of the library's
    /// queues, and the activity is donated again. It is `false` afterwards.
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

    /// The delegate that updates the activity. The reference is weak.
    open weak var delegate: (any NSUserActivityDelegate)? {
        get { current.delegate }
        set { change(\.delegate, to: newValue) }
    }

    // MARK: Description

    /// The user-visible title. An activity without a title cannot be found.
    open var title: String? {
        get { current.title }
        set { change(\.title, to: newValue) }
    }

    /// The values that the app needs to continue the activity: property-list values, URLs and sets
    /// of these, by name.
    open var userInfo: [AnyHashable: Any]? {
        get { current.userInfo }
        set { change(\.userInfo, to: newValue) }
    }

    /// Adds entries to the user info, and replaces entries with the same keys.
    open func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        userInfo = (userInfo ?? [:]).merging(otherDictionary) { _, new in new }
    }

    /// The keys in the user info that are stored with the item.
    open var requiredUserInfoKeys: Set<String>? {
        get { current.requiredUserInfoKeys }
        set { change(\.requiredUserInfoKeys, to: newValue) }
    }

    /// The web page with the content of the activity, an `http` or `https` URL.
    ///
    /// - Note: Differs on Linux: an address with another scheme is kept in this property but not in
    ///   the index, while Apple's systems terminate the process.
    open var webpageURL: URL? {
        get { current.webpageURL }
        set { change(\.webpageURL, to: newValue) }
    }

    /// The URL of the page that referred to the web page.
    ///
    /// - Note: Unused on Linux: nothing shows it.
    open var referrerURL: URL? {
        get { current.referrerURL }
        set { change(\.referrerURL, to: newValue) }
    }

    /// The date when the activity is removed from the index; `nil` for a month after the donation.
    open var expirationDate: Date? {
        get { current.expirationDate }
        set { change(\.expirationDate, to: newValue) }
    }

    /// Additional keywords for finding the activity.
    open var keywords: Set<String> {
        get { current.keywords }
        set { change(\.keywords, to: newValue) }
    }

    /// The attributes of the activity in the index. The set is copied.
    ///
    /// A `relatedUniqueIdentifier` ties the activity to an item: the activity stays in the index
    /// only as long as that item does.
    open var contentAttributeSet: CSSearchableItemAttributeSet? {
        get { current.attributes }
        set { change(\.attributes, to: newValue?.copy() as? CSSearchableItemAttributeSet) }
    }

    /// A Boolean value that indicates whether the activity is donated when it becomes current. The
    /// default is `false`.
    open var isEligibleForSearch: Bool {
        get { current.isEligibleForSearch }
        set { change(\.isEligibleForSearch, to: newValue) }
    }

    /// A Boolean value that indicates whether other devices can continue the activity. The default
    /// is `true`.
    ///
    /// - Note: Unused on Linux: there is no Handoff.
    open var isEligibleForHandoff: Bool {
        get { current.isEligibleForHandoff }
        set { change(\.isEligibleForHandoff, to: newValue) }
    }

    /// A Boolean value that indicates whether other users can find the activity. The default is
    /// `false`.
    ///
    /// - Note: Unused on Linux: the index belongs to one user.
    open var isEligibleForPublicIndexing: Bool {
        get { current.isEligibleForPublicIndexing }
        set { change(\.isEligibleForPublicIndexing, to: newValue) }
    }

    /// A Boolean value that indicates whether the system can suggest the activity. The default is
    /// `false`.
    ///
    /// - Note: Unused on Linux: nothing suggests activities.
    open var isEligibleForPrediction: Bool {
        get { current.isEligibleForPrediction }
        set { change(\.isEligibleForPrediction, to: newValue) }
    }

    /// The phrase that a user can say to a voice assistant for this activity.
    ///
    /// - Note: Unused on Linux: there is no voice assistant.
    open var suggestedInvocationPhrase: String? {
        get { current.suggestedInvocationPhrase }
        set { change(\.suggestedInvocationPhrase, to: newValue) }
    }

    /// The identifier for deleting and replacing the activity.
    open var persistentIdentifier: NSUserActivityPersistentIdentifier? {
        get { current.persistentIdentifier }
        set { change(\.persistentIdentifier, to: newValue) }
    }

    /// The identifier of the window content that shows the activity. It is stored with the item for
    /// use by the app.
    open var targetContentIdentifier: String? {
        get { current.targetContentIdentifier }
        set { change(\.targetContentIdentifier, to: newValue) }
    }

    /// A Boolean value that indicates whether the continuing app can open streams to this app. The
    /// default is `false`.
    ///
    /// - Note: Unused on Linux: there is no Handoff.
    open var supportsContinuationStreams: Bool {
        get { current.supportsContinuationStreams }
        set { change(\.supportsContinuationStreams, to: newValue) }
    }

    /// Requests streams to the device that the activity comes from.
    ///
    /// - Note: Fails on Linux: `CocoaError.featureUnsupported`, because there is no Handoff.
    @preconcurrency
    open func getContinuationStreams(
        completionHandler: @escaping @Sendable (InputStream?, OutputStream?, (any Error)?) -> Void
    ) {
        HandlerQueue.shared.async { completionHandler(nil, nil, Self.noHandoff) }
    }

    /// Requests streams to the device that the activity comes from.
    ///
    /// - Note: Fails on Linux: `CocoaError.featureUnsupported`, because there is no Handoff.
    open func continuationStreams() async throws -> (InputStream, OutputStream) { throw Self.noHandoff }

    // MARK: Deleting

    /// Deletes the activities with these persistent identifiers from the index, then calls the
    /// handler on one of the library's queues.
    ///
    /// Unknown identifiers are ignored. Like Apple's method, this one reports no errors: if the
    /// index cannot be reached, the activities stay in it.
    @preconcurrency
    open class func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier],
        completionHandler handler: @escaping @Sendable () -> Void
    ) {
        delete(persistentIdentifiers, handler)
    }

    /// Deletes the activities with these persistent identifiers from the index.
    ///
    /// Unknown identifiers are ignored. Like Apple's method, this one reports no errors: if the
    /// index cannot be reached, the activities stay in it.
    open class func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier]
    ) async {
        await withCheckedContinuation { continuation in
            deleteSavedUserActivities(withPersistentIdentifiers: persistentIdentifiers) { continuation.resume() }
        }
    }

    /// Deletes all of the app's activities from the index, then calls the handler on one of the
    /// library's queues.
    ///
    /// Activities with their own domains are found by a query, up to 100,000 of them. An extension
    /// cannot query, so there they are not deleted. Like Apple's method, this one reports no
    /// errors: if the index cannot be reached, the activities stay in it.
    @preconcurrency
    open class func deleteAllSavedUserActivities(completionHandler handler: @escaping @Sendable () -> Void) {
        deleteAll(handler)
    }

    /// Deletes all of the app's activities from the index.
    ///
    /// Activities with their own domains are found by a query, up to 100,000 of them. An extension
    /// cannot query, so there they are not deleted. Like Apple's method, this one reports no
    /// errors: if the index cannot be reached, the activities stay in it.
    open class func deleteAllSavedUserActivities() async {
        await withCheckedContinuation { continuation in
            deleteAllSavedUserActivities { continuation.resume() }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

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
}

/// Brings an activity up to date. Optional methods of Apple's protocol have default implementations here.
public protocol NSUserActivityDelegate: NSObjectProtocol {
    /// The activity is about to be donated: write into it what is so now. Called where it becomes current, or on a queue of
    /// the library.
    func userActivityWillSave(_ userActivity: NSUserActivity)

    /// The activity was continued on another device.
    ///
    /// - Note: Unused on Linux: there is no Handoff, so it is never called.
    func userActivityWasContinued(_ userActivity: NSUserActivity)

    /// Another device wants to talk.
    ///
    /// - Note: Unused on Linux: there is no Handoff, so it is never called.
    func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream)
}

extension NSUserActivityDelegate {
    /// Leaves the activity as it is.
    public func userActivityWillSave(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivityWasContinued(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {}
}

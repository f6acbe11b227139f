// SPDX-License-Identifier: Apache-2.0

import Foundation
package import ItemRecord

/// Something an app makes findable: an identifier, a domain, and a set of attributes.
///
/// One thread at a time may change an item. An item that was handed to an index may be changed afterwards; the index keeps
/// what it was given.
open class CSSearchableItem: NSObject, NSCopying, NSSecureCoding {
    /// Unique in the app; the handle by which the item is updated and deleted. At most 4096 bytes, without NUL.
    open var uniqueIdentifier: String
    /// A dotted path such as `account.mailbox`, for deletion in groups.
    open var domainIdentifier: String?
    /// What is known about the item. The set is shared, not copied.
    open var attributeSet: CSSearchableItemAttributeSet
    /// Whether an indexed item with this identifier is updated, instead of replaced. An update leaves other attributes as
    /// they are and removes those that were set to `nil`.
    open var isUpdate = false
    /// What the system shall find out about the item by itself. Kept with the item.
    ///
    /// - Note: Unused on Linux: nothing computes summaries or priorities.
    open var updateListenerOptions: UpdateListenerOptions = []

    /// The place among the results of a ranked query, larger is better; `nil` outside of one.
    package var rank: Double?

    private let creation = Date()
    private var chosenExpiration: Date?

    /// An item with this identifier, or with a new UUID if it is `nil`.
    public init(
        uniqueIdentifier: String?, domainIdentifier: String?, attributeSet: CSSearchableItemAttributeSet
    ) {
        self.uniqueIdentifier = uniqueIdentifier ?? UUID().uuidString
        self.domainIdentifier = domainIdentifier
        self.attributeSet = attributeSet
    }

    /// An item with a new UUID and no attributes.
    public convenience override init() {
        self.init(uniqueIdentifier: nil, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
    }

    /// When the item leaves the index: one month after it was made, unless set. `nil` restores that;
    /// `Date.distantFuture` keeps the item for good.
    open var expirationDate: Date! {
        get { chosenExpiration ?? Self.calendar.date(byAdding: .month, value: 1, to: creation) ?? .distantFuture }
        set { chosenExpiration = newValue }
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// Orders results of one ranked query as they are to be shown: the better one is ascending, so that sorting puts the
    /// best first. Items without a rank come after those with one.
    open func compare(byRank other: CSSearchableItem) -> ComparisonResult {
        switch (rank, other.rank) {
        case (nil, nil): .orderedSame
        case (nil, _): .orderedDescending
        case (_, nil): .orderedAscending
        case (let mine?, let theirs?):
            mine > theirs ? .orderedAscending : mine < theirs ? .orderedDescending : .orderedSame
        }
    }

    /// An item with the same fields and a copy of the attribute set.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CSSearchableItem(
            uniqueIdentifier: uniqueIdentifier, domainIdentifier: domainIdentifier,
            attributeSet: CSSearchableItemAttributeSet(values: attributeSet.values, traits: attributeSet.traits))
        copy.isUpdate = isUpdate
        copy.updateListenerOptions = updateListenerOptions
        copy.chosenExpiration = chosenExpiration
        copy.rank = rank
        return copy
    }

    // MARK: Records

    /// An item as it was donated.
    package convenience init(_ record: ItemRecord) {
        self.init(
            uniqueIdentifier: record.uniqueIdentifier, domainIdentifier: record.domainIdentifier,
            attributeSet: CSSearchableItemAttributeSet(values: record.attributes, traits: record.traits))
        isUpdate = record.isUpdate
        switch record.expiration {
        case .standard: break
        case .never: chosenExpiration = .distantFuture
        case .at(let moment): chosenExpiration = Date(timeIntervalSinceReferenceDate: moment)
        }
    }

    /// The item as it is donated. Attributes set to `nil` are part of an update only.
    package var record: ItemRecord {
        ItemRecord(
            uniqueIdentifier: uniqueIdentifier, domainIdentifier: domainIdentifier, expiration: expiration,
            isUpdate: isUpdate,
            attributes: isUpdate ? attributeSet.values : attributeSet.values.filter { $0.value != .null },
            traits: attributeSet.traits)
    }

    private var expiration: ItemRecord.Expiration {
        guard let moment = chosenExpiration?.timeIntervalSinceReferenceDate, !moment.isNaN else { return .standard }
        return moment >= Date.distantFuture.timeIntervalSinceReferenceDate ? .never : .at(moment)
    }

    // MARK: Archiving

    private static let recordKey = "record"
    private static let optionsKey = "updateListenerOptions"

    /// Items can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an item from an archive; `nil` if it holds none, or none of a known format.
    public required convenience init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.recordKey),
            let record = try? ItemRecord(decoding: Data(referencing: data))
        else { return nil }
        self.init(record)
        updateListenerOptions = UpdateListenerOptions(
            rawValue: UInt(clamping: coder.decodeInteger(forKey: Self.optionsKey)))
    }

    /// Writes the item to an archive. An item that an index would refuse is left out, and then reads as `nil`.
    open func encode(with coder: NSCoder) {
        guard let bytes = try? record.encoded() else { return }
        coder.encode(NSData(data: Data(bytes)), forKey: Self.recordKey)
        coder.encode(Int(clamping: updateListenerOptions.rawValue), forKey: Self.optionsKey)
    }
}

extension CSSearchableItem {
    /// What the system may find out about an item by itself.
    public struct UpdateListenerOptions: OptionSet, Sendable, BitwiseCopyable {
        /// The options as bits.
        public let rawValue: UInt

        /// Options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A summary of the text, `textContentSummary`.
        ///
        /// - Note: Unused on Linux: nothing computes it.
        public static let summarization = UpdateListenerOptions(rawValue: 1 << 1)
        /// Whether the item is urgent, `isPriority`.
        ///
        /// - Note: Unused on Linux: nothing computes it.
        public static let priority = UpdateListenerOptions(rawValue: 1 << 2)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
package import ItemRecord

/// An item that an app makes searchable: an identifier, a domain, and a set of attributes.
///
/// Change an item from one thread at a time. You can change an item after you have passed it to an
/// index; the index keeps the values at the time of the call.
open class CSSearchableItem: NSObject, NSCopying, NSSecureCoding {
    /// The identifier, which is unique in the app and used to update and delete the item. At most
    /// 4096 bytes, without NUL.
    open var uniqueIdentifier: String
    /// A dotted path such as `account.mailbox`, used to delete groups of items.
    open var domainIdentifier: String?
    /// The item's attributes. The set is shared, not copied.
    open var attributeSet: CSSearchableItemAttributeSet
    /// A Boolean value that indicates whether an indexed item with this identifier is updated
    /// instead of replaced. An update keeps other attributes and removes attributes that were set
    /// to `nil`.
    open var isUpdate = false
    /// The attributes that the system should compute. Stored with the item.
    ///
    /// - Note: Unused on Linux: nothing computes summaries or priorities.
    open var updateListenerOptions: UpdateListenerOptions = []

    /// The item's rank among the results of a ranked query, higher is better; `nil` outside a
    /// ranked query.
    package var rank: Double?

    private let creation = Date()
    private var chosenExpiration: Date?

    /// Creates an item with an identifier; `nil` for a new UUID.
    public init(
        uniqueIdentifier: String?, domainIdentifier: String?, attributeSet: CSSearchableItemAttributeSet
    ) {
        self.uniqueIdentifier = uniqueIdentifier ?? UUID().uuidString
        self.domainIdentifier = domainIdentifier
        self.attributeSet = attributeSet
    }

    /// Creates an item with a new UUID and no attributes.
    public convenience override init() {
        self.init(uniqueIdentifier: nil, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
    }

    /// The date when the item is removed from the index; one month after its creation by default.
    /// `nil` restores the default; `Date.distantFuture` keeps the item indefinitely.
    open var expirationDate: Date! {
        get { chosenExpiration ?? Self.calendar.date(byAdding: .month, value: 1, to: creation) ?? .distantFuture }
        set { chosenExpiration = newValue }
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// Compares the ranks of two results of one query. The better result is ordered first, so that
    /// sorting puts the best results first. Items without a rank follow ranked items.
    open func compare(byRank other: CSSearchableItem) -> ComparisonResult {
        switch (rank, other.rank) {
        case (nil, nil): .orderedSame
        case (nil, _): .orderedDescending
        case (_, nil): .orderedAscending
        case (let mine?, let theirs?):
            mine > theirs ? .orderedAscending : mine < theirs ? .orderedDescending : .orderedSame
        }
    }

    /// Returns an item with the same properties and a copy of the attribute set.
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

    /// Creates an item from its record.
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

    /// The item's record for a donation. Attributes that were set to `nil` are only included in an
    /// update.
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

    /// A Boolean value that indicates that items support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Decodes an item; `nil` if the archive contains none or has an unknown format.
    public required convenience init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.recordKey),
            let record = try? ItemRecord(decoding: Data(referencing: data))
        else { return nil }
        self.init(record)
        updateListenerOptions = UpdateListenerOptions(
            rawValue: UInt(clamping: coder.decodeInteger(forKey: Self.optionsKey)))
    }

    /// Encodes the item. An item that an index would reject is not encoded, and decodes as `nil`.
    open func encode(with coder: NSCoder) {
        guard let bytes = try? record.encoded() else { return }
        coder.encode(NSData(data: Data(bytes)), forKey: Self.recordKey)
        coder.encode(Int(clamping: updateListenerOptions.rawValue), forKey: Self.optionsKey)
    }
}

extension CSSearchableItem {
    /// The item attributes that the system can compute.
    public struct UpdateListenerOptions: OptionSet, Sendable, BitwiseCopyable {
        /// The options as bits.
        public let rawValue: UInt

        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A summary of the text, `textContentSummary`.
        ///
        /// - Note: Unused on Linux: nothing computes it.
        public static let summarization = UpdateListenerOptions(rawValue: 1 << 1)
        /// The urgency of the item, `isPriority`.
        ///
        /// - Note: Unused on Linux: nothing computes it.
        public static let priority = UpdateListenerOptions(rawValue: 1 << 2)
    }
}

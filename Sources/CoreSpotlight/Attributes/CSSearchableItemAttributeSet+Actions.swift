// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

// What a person can do with a result, and what it can be turned into.
extension CSSearchableItemAttributeSet {
    /// 1 if the first of `phoneNumbers` can be called.
    ///
    /// - Note: Differs on Linux: queries find it and programs that show the item are given it; no launcher offers calls yet.
    public var supportsPhoneCall: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if directions to `latitude` and `longitude` make sense.
    ///
    /// - Note: Differs on Linux: queries find it and programs that show the item are given it; no launcher offers directions yet.
    public var supportsNavigation: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The actions to offer, by the identifiers that the app's manifest declares.
    ///
    /// - Note: Differs on Linux: queries find it and programs that show the item are given it; no launcher offers the actions of apps yet.
    public var actionIdentifiers: [String] {
        get { value() ?? [] }
        set { store(newValue) }
    }

    /// The type in which the item is shared from a result.
    ///
    /// - Note: Differs on Linux: queries find it and programs that show the item are given it; no launcher offers sharing yet.
    public var sharedItemContentType: UTType? {
        get { value() }
        set { store(newValue) }
    }

    /// The title of the container that holds the item.
    public var containerTitle: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the container to show to people.
    public var containerDisplayName: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The identifier of the container.
    public var containerIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The position in the container.
    public var containerOrder: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Types the item can be turned into as bytes, best first. A type may be in one of the three lists only.
    public var providerDataTypeIdentifiers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// Types the item can be turned into as a copied file, best first.
    public var providerFileTypeIdentifiers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// Types the item can be turned into as its original file, best first.
    public var providerInPlaceFileTypeIdentifiers: [String]? {
        get { value() }
        set { store(newValue) }
    }
}

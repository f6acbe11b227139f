// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

// The actions on a result, and the types into which an item can be converted.
extension CSSearchableItemAttributeSet {
    /// A number that indicates whether the first of `phoneNumbers` can be called (1) or not (0).
    ///
    /// - Note: Differs on Linux: the Quick Look page, KRunner and `searchlight open --action call`
    ///   call the first plain number with the default app for `tel:` addresses.
    public var supportsPhoneCall: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether directions to `latitude` and `longitude` are useful (1) or
    /// not (0).
    /// - Note: Differs on Linux: the Quick Look page, KRunner and `searchlight open --action
    ///   navigate` show the place with the default app for `geo:` addresses. If there are no
    ///   coordinates, `fullyFormattedAddress` is used.
    public var supportsNavigation: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The identifiers of the actions to offer, as declared in the app's manifest.
    ///
    /// - Note: Differs on Linux: queries find it, and programs that show the item receive it; no
    ///   launcher offers the actions of apps yet.
    public var actionIdentifiers: [String] {
        get { value() ?? [] }
        set { store(newValue) }
    }

    /// The content type in which a result is shared.
    ///
    /// - Note: Differs on Linux: queries find it, and programs that show the item receive it; no
    ///   launcher offers sharing yet.
    public var sharedItemContentType: UTType? {
        get { value() }
        set { store(newValue) }
    }

    /// The title of the container that the item is in.
    public var containerTitle: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The display name of the container.
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

    /// The types in which the item can be provided as data, in order of preference. Each type can
    /// only be in one of the three lists.
    public var providerDataTypeIdentifiers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The types in which the item can be provided as a copied file, in order of preference.
    public var providerFileTypeIdentifiers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The types in which the item can be provided as its original file, in order of preference.
    public var providerInPlaceFileTypeIdentifiers: [String]? {
        get { value() }
        set { store(newValue) }
    }
}

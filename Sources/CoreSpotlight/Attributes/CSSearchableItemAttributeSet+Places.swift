// SPDX-License-Identifier: Apache-2.0

import Foundation

// Places and positions.
extension CSSearchableItemAttributeSet {
    /// A synopsis that can be published.
    public var headline: String? {
        get { value() }
        set { store(newValue) }
    }

    /// What to mind when using the item, such as an embargo.
    public var instructions: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The street.
    public var thoroughfare: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The number in the street.
    public var subThoroughfare: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The postal code.
    public var postalCode: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The city.
    public var city: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The state or province.
    public var stateOrProvince: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The country.
    public var country: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The whole address in one text.
    public var fullyFormattedAddress: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Metres above sea level, WGS 84.
    public var altitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Degrees north, WGS 84.
    public var latitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Degrees east, WGS 84.
    public var longitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The speed, in kilometres an hour.
    public var speed: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// When the position was taken.
    public var timestamp: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// Where the camera points, in degrees from true north.
    public var imageDirection: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the place.
    public var namedLocation: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The direction of travel, in degrees from true north.
    public var gpsTrack: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The state of the receiver.
    public var gpsStatus: String? {
        get { value() }
        set { store(newValue) }
    }

    /// How the receiver measures.
    public var gpsMeasureMode: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The dilution of precision.
    public var gpsdop: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The geodetic datum.
    public var gpsMapDatum: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The latitude of the destination, in degrees north.
    public var gpsDestLatitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The longitude of the destination, in degrees east.
    public var gpsDestLongitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The bearing of the destination, in degrees.
    public var gpsDestBearing: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The distance of the destination, in kilometres.
    public var gpsDestDistance: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// How the position was found.
    public var gpsProcessingMethod: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the area.
    public var gpsAreaInformation: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The date of the position.
    public var gpsDateStamp: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the position was corrected differentially. The spelling is Apple's.
    public var gpsDifferental: NSNumber? {
        get { value() }
        set { store(newValue) }
    }
}

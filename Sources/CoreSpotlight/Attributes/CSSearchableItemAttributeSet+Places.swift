// SPDX-License-Identifier: Apache-2.0

import Foundation

// Places and coordinates.
extension CSSearchableItemAttributeSet {
    /// A synopsis for publication.
    public var headline: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Instructions for using the item, such as an embargo.
    public var instructions: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the street.
    public var thoroughfare: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The street number.
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

    /// The complete formatted address.
    public var fullyFormattedAddress: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The altitude in meters above sea level (WGS 84).
    public var altitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The latitude in degrees north (WGS 84).
    public var latitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The longitude in degrees east (WGS 84).
    public var longitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The speed in kilometers per hour.
    public var speed: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The time at which the position was measured.
    public var timestamp: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The direction of the camera, in degrees from true north.
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

    /// The status of the GPS receiver.
    public var gpsStatus: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The measurement mode of the GPS receiver.
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

    /// The latitude of the destination in degrees north.
    public var gpsDestLatitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The longitude of the destination in degrees east.
    public var gpsDestLongitude: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The bearing to the destination in degrees.
    public var gpsDestBearing: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The distance to the destination in kilometers.
    public var gpsDestDistance: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The method used to determine the position.
    public var gpsProcessingMethod: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the GPS area.
    public var gpsAreaInformation: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The date of the GPS position.
    public var gpsDateStamp: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether differential correction was applied (1) or not (0). The
    /// spelling is Apple's.
    public var gpsDifferental: NSNumber? {
        get { value() }
        set { store(newValue) }
    }
}

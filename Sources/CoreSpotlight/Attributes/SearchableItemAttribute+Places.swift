// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/altitude``
    public static let altitude = SearchableItemAttribute(rawValue: "altitude")
    /// ``CSSearchableItemAttributeSet/city``
    public static let city = SearchableItemAttribute(rawValue: "city")
    /// ``CSSearchableItemAttributeSet/country``
    public static let country = SearchableItemAttribute(rawValue: "country")
    /// ``CSSearchableItemAttributeSet/gpsAreaInformation``
    public static let gpsAreaInformation = SearchableItemAttribute(rawValue: "gpsAreaInformation")
    /// ``CSSearchableItemAttributeSet/gpsDateStamp``
    public static let gpsDateStamp = SearchableItemAttribute(rawValue: "gpsDateStamp")
    /// ``CSSearchableItemAttributeSet/gpsDestBearing``
    public static let gpsDestinationBearing = SearchableItemAttribute(rawValue: "gpsDestBearing")
    /// ``CSSearchableItemAttributeSet/gpsDestDistance``
    public static let gpsDestinationDistance = SearchableItemAttribute(rawValue: "gpsDestDistance")
    /// ``CSSearchableItemAttributeSet/gpsDestLatitude``
    public static let gpsDestinationLatitude = SearchableItemAttribute(rawValue: "gpsDestLatitude")
    /// ``CSSearchableItemAttributeSet/gpsDestLongitude``
    public static let gpsDestinationLongitude = SearchableItemAttribute(rawValue: "gpsDestLongitude")
    /// ``CSSearchableItemAttributeSet/gpsDifferental``
    public static let gpsDifferential = SearchableItemAttribute(rawValue: "gpsDifferental")
    /// ``CSSearchableItemAttributeSet/gpsdop``
    public static let gpsDilutionOfPrecision = SearchableItemAttribute(rawValue: "gpsdop")
    /// ``CSSearchableItemAttributeSet/gpsMapDatum``
    public static let gpsMapDatum = SearchableItemAttribute(rawValue: "gpsMapDatum")
    /// ``CSSearchableItemAttributeSet/gpsMeasureMode``
    public static let gpsMeasureMode = SearchableItemAttribute(rawValue: "gpsMeasureMode")
    /// ``CSSearchableItemAttributeSet/gpsProcessingMethod``
    public static let gpsProcessingMethod = SearchableItemAttribute(rawValue: "gpsProcessingMethod")
    /// ``CSSearchableItemAttributeSet/gpsStatus``
    public static let gpsStatus = SearchableItemAttribute(rawValue: "gpsStatus")
    /// ``CSSearchableItemAttributeSet/gpsTrack``
    public static let gpsTrack = SearchableItemAttribute(rawValue: "gpsTrack")
    /// ``CSSearchableItemAttributeSet/headline``
    public static let headline = SearchableItemAttribute(rawValue: "headline")
    /// ``CSSearchableItemAttributeSet/imageDirection``
    public static let imageDirection = SearchableItemAttribute(rawValue: "imageDirection")
    /// ``CSSearchableItemAttributeSet/instructions``
    public static let instructions = SearchableItemAttribute(rawValue: "instructions")
    /// ``CSSearchableItemAttributeSet/latitude``
    public static let latitude = SearchableItemAttribute(rawValue: "latitude")
    /// ``CSSearchableItemAttributeSet/longitude``
    public static let longitude = SearchableItemAttribute(rawValue: "longitude")
    /// ``CSSearchableItemAttributeSet/namedLocation``
    public static let namedLocation = SearchableItemAttribute(rawValue: "namedLocation")
    /// ``CSSearchableItemAttributeSet/speed``
    public static let speed = SearchableItemAttribute(rawValue: "speed")
    /// ``CSSearchableItemAttributeSet/stateOrProvince``
    public static let stateOrProvince = SearchableItemAttribute(rawValue: "stateOrProvince")
    /// ``CSSearchableItemAttributeSet/timestamp``
    public static let timestamp = SearchableItemAttribute(rawValue: "timestamp")
    /// ``CSSearchableItemAttributeSet/fullyFormattedAddress``
    public static let fullyFormattedAddress = SearchableItemAttribute(rawValue: "fullyFormattedAddress")
    /// ``CSSearchableItemAttributeSet/postalCode``
    public static let postalCode = SearchableItemAttribute(rawValue: "postalCode")
    /// ``CSSearchableItemAttributeSet/subThoroughfare``
    public static let subThoroughfare = SearchableItemAttribute(rawValue: "subThoroughfare")
    /// ``CSSearchableItemAttributeSet/thoroughfare``
    public static let thoroughfare = SearchableItemAttribute(rawValue: "thoroughfare")
}

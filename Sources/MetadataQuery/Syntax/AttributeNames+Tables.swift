// SPDX-License-Identifier: Apache-2.0
import CTables

extension AttributeNames {
    /// Maps the public `kMDItem…` names (file metadata) to the properties for the same concept.
    static let metadataKeys: [String: String] = {
        let text = ctables_attribute_keys()
        let bytes = UnsafeBufferPointer(start: text.start, count: text.count)
        let names = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        let pairs = stride(from: 0, to: names.count, by: 2).map { (names[$0], names[$0 + 1]) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    /// The properties without a `kMDItem…` name that queries do not search by default.
    static let otherProperties: Set<String> = [
        "accountHandles", "accountIdentifier", "actionIdentifiers", "allDay", "completionDate", "containerIdentifier",
        "containerOrder", "contentRating", "contentURL", "darkThumbnailURL", "domainIdentifier", "emailHeaders",
        "endDate", "fileSize", "htmlContentData", "importantDates", "isPriority", "local", "mailboxIdentifiers",
        "playCount", "providerDataTypeIdentifiers", "providerFileTypeIdentifiers",
        "providerInPlaceFileTypeIdentifiers", "rankingHint", "ratingDescription", "relatedUniqueIdentifier", "role",
        "sharedItemContentType", "startDate", "subThoroughfare", "supportsNavigation", "supportsPhoneCall",
        "thumbnailData", "thumbnailURL", "userCreated", "userCurated", "userOwned", "weakRelatedUniqueIdentifier",
    ]

    /// The Objective-C spellings that differ from the property names.
    static let objectiveCNames: [String: String] = [
        "EXIFGPSVersion": "exifgpsVersion", "EXIFVersion": "exifVersion", "GPSAreaInformation": "gpsAreaInformation",
        "GPSDOP": "gpsdop", "GPSDateStamp": "gpsDateStamp", "GPSDestBearing": "gpsDestBearing",
        "GPSDestDistance": "gpsDestDistance", "GPSDestLatitude": "gpsDestLatitude",
        "GPSDestLongitude": "gpsDestLongitude", "GPSDifferental": "gpsDifferental", "GPSMapDatum": "gpsMapDatum",
        "GPSMeasureMode": "gpsMeasureMode", "GPSProcessingMethod": "gpsProcessingMethod", "GPSStatus": "gpsStatus",
        "GPSTrack": "gpsTrack", "HTMLContentData": "htmlContentData", "ISOSpeed": "isoSpeed", "URL": "url",
    ]
}

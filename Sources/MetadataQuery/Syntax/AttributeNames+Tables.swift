// SPDX-License-Identifier: Apache-2.0
import CTables

extension AttributeNames {
    /// The property for each public `kMDItem…` name (file metadata).
    static let metadataKeys = table(ctables_attribute_keys())

    /// The kind of value of each property.
    static let kinds: [String: AttributeValueKind] = table(ctables_attribute_kinds()).compactMapValues(
        AttributeValueKind.init)

    /// Returns the words of a table, paired, as a dictionary.
    private static func table(_ text: ctables_text) -> [String: String] {
        let bytes = UnsafeBufferPointer(start: text.start, count: text.count)
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        let pairs = stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

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

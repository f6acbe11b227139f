// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

/// Every settable property, by type: the name of its encoded value, and the property.
enum AttributeTable {
    typealias Properties<Value> = [(
        name: String, property: ReferenceWritableKeyPath<CSSearchableItemAttributeSet, Value>
    )]

    nonisolated(unsafe) static let texts: Properties<String?> = [
        ("displayName", \.displayName), ("path", \.path), ("relatedUniqueIdentifier", \.relatedUniqueIdentifier),
        ("weakRelatedUniqueIdentifier", \.weakRelatedUniqueIdentifier), ("contentType", \.contentType),
        ("title", \.title), ("version", \.version), ("domainIdentifier", \.domainIdentifier),
        ("transcribedTextContent", \.transcribedTextContent), ("containerTitle", \.containerTitle),
        ("containerDisplayName", \.containerDisplayName), ("containerIdentifier", \.containerIdentifier),
        ("subject", \.subject), ("theme", \.theme), ("contentDescription", \.contentDescription),
        ("identifier", \.identifier), ("securityMethod", \.securityMethod), ("creator", \.creator), ("kind", \.kind),
        ("colorSpace", \.colorSpace), ("acquisitionMake", \.acquisitionMake),
        ("acquisitionModel", \.acquisitionModel), ("cameraOwner", \.cameraOwner), ("lensModel", \.lensModel),
        ("profileName", \.profileName), ("exifVersion", \.exifVersion), ("exifgpsVersion", \.exifgpsVersion),
        ("meteringMode", \.meteringMode), ("exposureProgram", \.exposureProgram),
        ("exposureTimeString", \.exposureTimeString), ("comment", \.comment), ("copyright", \.copyright),
        ("role", \.role), ("rights", \.rights), ("ratingDescription", \.ratingDescription),
        ("information", \.information), ("director", \.director), ("producer", \.producer), ("genre", \.genre),
        ("originalFormat", \.originalFormat), ("originalSource", \.originalSource), ("keySignature", \.keySignature),
        ("timeSignature", \.timeSignature), ("audioEncodingApplication", \.audioEncodingApplication),
        ("composer", \.composer), ("lyricist", \.lyricist), ("album", \.album), ("artist", \.artist),
        ("musicalGenre", \.musicalGenre), ("musicalInstrumentCategory", \.musicalInstrumentCategory),
        ("musicalInstrumentName", \.musicalInstrumentName), ("accountIdentifier", \.accountIdentifier),
        ("textContent", \.textContent), ("headline", \.headline), ("instructions", \.instructions),
        ("thoroughfare", \.thoroughfare), ("subThoroughfare", \.subThoroughfare), ("postalCode", \.postalCode),
        ("city", \.city), ("stateOrProvince", \.stateOrProvince), ("country", \.country),
        ("fullyFormattedAddress", \.fullyFormattedAddress), ("namedLocation", \.namedLocation),
        ("gpsStatus", \.gpsStatus), ("gpsMeasureMode", \.gpsMeasureMode), ("gpsMapDatum", \.gpsMapDatum),
        ("gpsProcessingMethod", \.gpsProcessingMethod), ("gpsAreaInformation", \.gpsAreaInformation),
    ]
    nonisolated(unsafe) static let textLists: Properties<[String]?> = [
        ("alternateNames", \.alternateNames), ("contentTypeTree", \.contentTypeTree), ("keywords", \.keywords),
        ("providerDataTypeIdentifiers", \.providerDataTypeIdentifiers),
        ("providerFileTypeIdentifiers", \.providerFileTypeIdentifiers),
        ("providerInPlaceFileTypeIdentifiers", \.providerInPlaceFileTypeIdentifiers), ("audiences", \.audiences),
        ("encodingApplications", \.encodingApplications), ("fontNames", \.fontNames), ("layerNames", \.layerNames),
        ("editors", \.editors), ("participants", \.participants), ("projects", \.projects),
        ("contentSources", \.contentSources), ("contactKeywords", \.contactKeywords), ("codecs", \.codecs),
        ("mediaTypes", \.mediaTypes), ("organizations", \.organizations), ("languages", \.languages),
        ("publishers", \.publishers), ("contributors", \.contributors), ("coverage", \.coverage),
        ("performers", \.performers), ("accountHandles", \.accountHandles),
        ("mailboxIdentifiers", \.mailboxIdentifiers), ("authorNames", \.authorNames),
        ("recipientNames", \.recipientNames), ("authorEmailAddresses", \.authorEmailAddresses),
        ("recipientEmailAddresses", \.recipientEmailAddresses), ("authorAddresses", \.authorAddresses),
        ("recipientAddresses", \.recipientAddresses), ("phoneNumbers", \.phoneNumbers),
        ("emailAddresses", \.emailAddresses), ("instantMessageAddresses", \.instantMessageAddresses),
    ]
    nonisolated(unsafe) static let plainTextLists: Properties<[String]> = [
        ("actionIdentifiers", \.actionIdentifiers)
    ]
    nonisolated(unsafe) static let urls: Properties<URL?> = [
        ("contentURL", \.contentURL), ("thumbnailURL", \.thumbnailURL), ("darkThumbnailURL", \.darkThumbnailURL),
        ("url", \.url),
    ]
    nonisolated(unsafe) static let data: Properties<Data?> = [
        ("thumbnailData", \.thumbnailData), ("htmlContentData", \.htmlContentData),
    ]
    nonisolated(unsafe) static let dates: Properties<Date?> = [
        ("metadataModificationDate", \.metadataModificationDate), ("dueDate", \.dueDate),
        ("completionDate", \.completionDate), ("startDate", \.startDate), ("endDate", \.endDate),
        ("downloadedDate", \.downloadedDate), ("lastUsedDate", \.lastUsedDate),
        ("contentCreationDate", \.contentCreationDate), ("contentModificationDate", \.contentModificationDate),
        ("addedDate", \.addedDate), ("recordingDate", \.recordingDate), ("timestamp", \.timestamp),
        ("gpsDateStamp", \.gpsDateStamp),
    ]
    nonisolated(unsafe) static let dateLists: Properties<[Date]?> = [
        ("importantDates", \.importantDates)
    ]
    nonisolated(unsafe) static let numbers: Properties<NSNumber?> = [
        ("userCreated", \.userCreated), ("userOwned", \.userOwned), ("userCurated", \.userCurated),
        ("rankingHint", \.rankingHint), ("supportsPhoneCall", \.supportsPhoneCall),
        ("supportsNavigation", \.supportsNavigation), ("containerOrder", \.containerOrder), ("fileSize", \.fileSize),
        ("pageCount", \.pageCount), ("pageWidth", \.pageWidth), ("pageHeight", \.pageHeight), ("allDay", \.allDay),
        ("pixelHeight", \.pixelHeight), ("pixelWidth", \.pixelWidth), ("pixelCount", \.pixelCount),
        ("bitsPerSample", \.bitsPerSample), ("flashOn", \.flashOn), ("focalLength", \.focalLength),
        ("focalLength35mm", \.focalLength35mm), ("isoSpeed", \.isoSpeed), ("orientation", \.orientation),
        ("whiteBalance", \.whiteBalance), ("aperture", \.aperture), ("resolutionWidthDPI", \.resolutionWidthDPI),
        ("resolutionHeightDPI", \.resolutionHeightDPI), ("exposureMode", \.exposureMode),
        ("exposureTime", \.exposureTime), ("hasAlphaChannel", \.hasAlphaChannel), ("redEyeOn", \.redEyeOn),
        ("maxAperture", \.maxAperture), ("fNumber", \.fNumber), ("duration", \.duration),
        ("streamable", \.streamable), ("totalBitRate", \.totalBitRate), ("videoBitRate", \.videoBitRate),
        ("audioBitRate", \.audioBitRate), ("deliveryType", \.deliveryType), ("rating", \.rating),
        ("playCount", \.playCount), ("local", \.local), ("contentRating", \.contentRating),
        ("audioSampleRate", \.audioSampleRate), ("audioChannelCount", \.audioChannelCount), ("tempo", \.tempo),
        ("audioTrackNumber", \.audioTrackNumber), ("generalMIDISequence", \.generalMIDISequence),
        ("altitude", \.altitude), ("latitude", \.latitude), ("longitude", \.longitude), ("speed", \.speed),
        ("imageDirection", \.imageDirection), ("gpsTrack", \.gpsTrack), ("gpsdop", \.gpsdop),
        ("gpsDestLatitude", \.gpsDestLatitude), ("gpsDestLongitude", \.gpsDestLongitude),
        ("gpsDestBearing", \.gpsDestBearing), ("gpsDestDistance", \.gpsDestDistance),
        ("gpsDifferental", \.gpsDifferental),
    ]
    nonisolated(unsafe) static let plainNumbers: Properties<NSNumber> = [
        ("likelyJunk", \.likelyJunk)
    ]
    nonisolated(unsafe) static let types: Properties<UTType?> = [
        ("sharedItemContentType", \.sharedItemContentType)
    ]
    nonisolated(unsafe) static let personLists: Properties<[CSPerson]?> = [
        ("authors", \.authors), ("primaryRecipients", \.primaryRecipients),
        ("additionalRecipients", \.additionalRecipients),
        ("hiddenAdditionalRecipients", \.hiddenAdditionalRecipients),
    ]
    nonisolated(unsafe) static let headers: Properties<[String: [Any]]?> = [
        ("emailHeaders", \.emailHeaders)
    ]
}

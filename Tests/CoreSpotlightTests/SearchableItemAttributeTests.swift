// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ItemRecord
import Testing

@Suite("Names of attributes")
struct SearchableItemAttributeTests {
    private static let all: [SearchableItemAttribute] = [
        .alternateNames, .contentType, .contentTypeTree, .contentURL, .darkThumbnailURL, .displayName, .keywords,
        .metadataModificationDate, .path, .rankingHint, .relatedUniqueIdentifier, .thumbnailData, .thumbnailURL,
        .title, .domainIdentifier, .weakRelatedUniqueIdentifier, .userCreated, .userCurated, .userOwned,
        .containerDisplayName, .containerIdentifier, .containerOrder, .containerTitle, .supportsNavigation,
        .supportsPhoneCall, .audiences, .contentDescription, .creator, .encodingApplications, .fileSize, .fontNames,
        .identifier, .kind, .pageCount, .pageHeight, .pageWidth, .securityMethod, .subject, .theme, .allDay,
        .completionDate, .dueDate, .endDate, .importantDates, .startDate, .altitude, .city, .country,
        .gpsAreaInformation, .gpsDateStamp, .gpsDestinationBearing, .gpsDestinationDistance, .gpsDestinationLatitude,
        .gpsDestinationLongitude, .gpsDifferential, .gpsDilutionOfPrecision, .gpsMapDatum, .gpsMeasureMode,
        .gpsProcessingMethod, .gpsStatus, .gpsTrack, .headline, .imageDirection, .instructions, .latitude,
        .longitude, .namedLocation, .speed, .stateOrProvince, .timestamp, .fullyFormattedAddress, .postalCode,
        .subThoroughfare, .thoroughfare, .comment, .contentCreationDate, .contentModificationDate, .contentSources,
        .copyright, .downloadedDate, .editors, .lastUsedDate, .participants, .projects, .addedDate, .codecs,
        .contactKeywords, .deliveryType, .duration, .mediaTypes, .organizations, .streamable, .totalBitRate,
        .audioBitRate, .version, .videoBitRate, .contributors, .languages, .publishers, .rights, .role,
        .contentRating, .coverage, .director, .genre, .information, .local, .originalFormat, .originalSource,
        .performers, .playCount, .producer, .rating, .ratingDescription, .url, .album, .artist, .audioChannelCount,
        .audioEncodingApplication, .audioSampleRate, .audioTrackNumber, .composer, .keySignature, .lyricist,
        .musicalGenre, .recordingDate, .tempo, .timeSignature, .generalMIDISequence, .musicalInstrumentCategory,
        .musicalInstrumentName, .isoSpeed, .acquisitionMake, .acquisitionModel, .aperture, .bitsPerSample,
        .cameraOwner, .colorSpace, .flashOn, .focalLength, .focalLength35mmEquivalent, .layerNames, .lensModel,
        .orientation, .pixelCount, .pixelHeight, .pixelWidth, .whiteBalance, .exifGPSVersion, .exifVersion,
        .exposureMode, .exposureProgram, .exposureTime, .exposureTimeString, .fNumber, .hasAlphaChannel,
        .maximumAperture, .meteringMode, .profileName, .redEyeOn, .resolutionHeightDPI, .resolutionWidthDPI,
        .accountHandles, .accountIdentifier, .authorAddresses, .authorEmailAddresses, .authorNames, .emailAddresses,
        .instantMessageAddresses, .likelyJunk, .mailboxIdentifiers, .phoneNumbers, .recipientAddresses,
        .recipientEmailAddresses, .recipientNames, .textContent,
    ]

    @Test("Each name is a property of attribute sets, and no two are equal")
    func names() {
        let table = AttributeTable.self
        let properties = Set(
            table.texts.map(\.name) + table.textLists.map(\.name) + table.plainTextLists.map(\.name)
                + table.urls.map(\.name) + table.data.map(\.name) + table.dates.map(\.name)
                + table.dateLists.map(\.name) + table.numbers.map(\.name) + table.plainNumbers.map(\.name)
                + table.types.map(\.name) + table.personLists.map(\.name))
        #expect(Self.all.filter { !properties.contains($0.rawValue) } == [])
        #expect(Set(Self.all).count == Self.all.count && Self.all.count == 176)
    }

    @Test("A custom key has a name too")
    func custom() {
        #expect(SearchableItemAttribute(rawValue: "com_example_mood").rawValue == "com_example_mood")
        #expect(SearchableItemAttribute(rawValue: "title") == .title)
    }
}

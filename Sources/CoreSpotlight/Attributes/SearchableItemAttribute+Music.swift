// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/album``
    public static let album = SearchableItemAttribute(rawValue: "album")
    /// ``CSSearchableItemAttributeSet/artist``
    public static let artist = SearchableItemAttribute(rawValue: "artist")
    /// ``CSSearchableItemAttributeSet/audioChannelCount``
    public static let audioChannelCount = SearchableItemAttribute(rawValue: "audioChannelCount")
    /// ``CSSearchableItemAttributeSet/audioEncodingApplication``
    public static let audioEncodingApplication = SearchableItemAttribute(rawValue: "audioEncodingApplication")
    /// ``CSSearchableItemAttributeSet/audioSampleRate``
    public static let audioSampleRate = SearchableItemAttribute(rawValue: "audioSampleRate")
    /// ``CSSearchableItemAttributeSet/audioTrackNumber``
    public static let audioTrackNumber = SearchableItemAttribute(rawValue: "audioTrackNumber")
    /// ``CSSearchableItemAttributeSet/composer``
    public static let composer = SearchableItemAttribute(rawValue: "composer")
    /// ``CSSearchableItemAttributeSet/keySignature``
    public static let keySignature = SearchableItemAttribute(rawValue: "keySignature")
    /// ``CSSearchableItemAttributeSet/lyricist``
    public static let lyricist = SearchableItemAttribute(rawValue: "lyricist")
    /// ``CSSearchableItemAttributeSet/musicalGenre``
    public static let musicalGenre = SearchableItemAttribute(rawValue: "musicalGenre")
    /// ``CSSearchableItemAttributeSet/recordingDate``
    public static let recordingDate = SearchableItemAttribute(rawValue: "recordingDate")
    /// ``CSSearchableItemAttributeSet/tempo``
    public static let tempo = SearchableItemAttribute(rawValue: "tempo")
    /// ``CSSearchableItemAttributeSet/timeSignature``
    public static let timeSignature = SearchableItemAttribute(rawValue: "timeSignature")
    /// ``CSSearchableItemAttributeSet/generalMIDISequence``
    public static let generalMIDISequence = SearchableItemAttribute(rawValue: "generalMIDISequence")
    /// ``CSSearchableItemAttributeSet/musicalInstrumentCategory``
    public static let musicalInstrumentCategory = SearchableItemAttribute(rawValue: "musicalInstrumentCategory")
    /// ``CSSearchableItemAttributeSet/musicalInstrumentName``
    public static let musicalInstrumentName = SearchableItemAttribute(rawValue: "musicalInstrumentName")
}

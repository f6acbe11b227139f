// SPDX-License-Identifier: Apache-2.0

import Foundation

// Music and audio.
extension CSSearchableItemAttributeSet {
    /// The sample rate in hertz.
    public var audioSampleRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The number of audio channels.
    public var audioChannelCount: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The tempo in beats per minute.
    public var tempo: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The musical key, such as Dm.
    public var keySignature: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The time signature, such as 7/8.
    public var timeSignature: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The program that encoded the audio.
    public var audioEncodingApplication: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The composer of the music.
    public var composer: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The lyricist.
    public var lyricist: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the album.
    public var album: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The artist.
    public var artist: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The track number in the album.
    public var audioTrackNumber: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The recording date.
    public var recordingDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The genre of the music.
    public var musicalGenre: String? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the file is a General MIDI sequence (1) or not (0).
    public var generalMIDISequence: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The category of the instrument.
    public var musicalInstrumentCategory: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the instrument.
    public var musicalInstrumentName: String? {
        get { value() }
        set { store(newValue) }
    }
}

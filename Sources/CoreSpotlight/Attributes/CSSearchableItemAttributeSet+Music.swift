// SPDX-License-Identifier: Apache-2.0

import Foundation

// Music and sound.
extension CSSearchableItemAttributeSet {
    /// Samples in a second, in hertz.
    public var audioSampleRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// How many channels of sound there are.
    public var audioChannelCount: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The tempo, in beats a minute.
    public var tempo: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The key, such as Dm.
    public var keySignature: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The metre, such as 7/8.
    public var timeSignature: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The program that encoded the sound.
    public var audioEncodingApplication: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who composed the music.
    public var composer: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who wrote the words.
    public var lyricist: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The album.
    public var album: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who performs the music.
    public var artist: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The track in the album.
    public var audioTrackNumber: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// When the sound was recorded.
    public var recordingDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The genre of the music.
    public var musicalGenre: String? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the file is a General MIDI sequence.
    public var generalMIDISequence: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The family of the instrument.
    public var musicalInstrumentCategory: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The instrument.
    public var musicalInstrumentName: String? {
        get { value() }
        set { store(newValue) }
    }
}

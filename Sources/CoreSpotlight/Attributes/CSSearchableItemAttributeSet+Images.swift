// SPDX-License-Identifier: Apache-2.0

import Foundation

// Pictures and how they were taken.
extension CSSearchableItemAttributeSet {
    /// The height, in pixels.
    public var pixelHeight: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The width, in pixels.
    public var pixelWidth: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Width times height, in pixels.
    public var pixelCount: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The colour space, such as RGB or CMYK.
    public var colorSpace: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Bits in each sample of a picture or of sound.
    public var bitsPerSample: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the flash fired.
    public var flashOn: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The focal length, in millimetres.
    public var focalLength: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if `focalLength` is the equivalent for 35 mm film.
    public var focalLength35mm: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Who made the device.
    public var acquisitionMake: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The model of the device.
    public var acquisitionModel: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who owns the camera.
    public var cameraOwner: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The model of the lens.
    public var lensModel: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The ISO sensitivity.
    public var isoSpeed: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 0 for landscape, 1 for portrait.
    public var orientation: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The names of the layers.
    public var layerNames: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// 0 for automatic white balance, 1 for manual.
    public var whiteBalance: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The aperture as an APEX value, a logarithm of the F number.
    public var aperture: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the colour profile.
    public var profileName: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The horizontal resolution, in dots per inch.
    public var resolutionWidthDPI: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The vertical resolution, in dots per inch.
    public var resolutionHeightDPI: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 0 for automatic exposure, 1 for manual, 2 for automatic bracketing.
    public var exposureMode: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The exposure time, in seconds.
    public var exposureTime: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The version of the EXIF header.
    public var exifVersion: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The version of the position block of the EXIF header.
    public var exifgpsVersion: String? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the picture has transparency.
    public var hasAlphaChannel: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if red-eye reduction was on.
    public var redEyeOn: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// How the light was metered.
    public var meteringMode: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The widest aperture of the lens as an APEX value.
    public var maxAperture: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The F number.
    public var fNumber: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The exposure program of the camera.
    public var exposureProgram: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The exposure time, in words.
    public var exposureTimeString: String? {
        get { value() }
        set { store(newValue) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

// Images and the conditions of their exposure.
extension CSSearchableItemAttributeSet {
    /// The height in pixels.
    public var pixelHeight: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The width in pixels.
    public var pixelWidth: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The number of pixels.
    public var pixelCount: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The color space, such as RGB or CMYK.
    public var colorSpace: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The number of bits in each sample of an image or of audio.
    public var bitsPerSample: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the flash fired (1) or not (0).
    public var flashOn: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The focal length in millimeters.
    public var focalLength: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether `focalLength` is the 35 mm equivalent (1) or not (0).
    public var focalLength35mm: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The manufacturer of the device.
    public var acquisitionMake: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The model of the device.
    public var acquisitionModel: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The owner of the camera.
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

    /// The orientation: 0 for landscape, 1 for portrait.
    public var orientation: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The names of the layers.
    public var layerNames: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The white balance mode: 0 for automatic, 1 for manual.
    public var whiteBalance: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The aperture as an APEX value, a logarithm of the F number.
    public var aperture: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The name of the color profile.
    public var profileName: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The horizontal resolution in dots per inch.
    public var resolutionWidthDPI: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The vertical resolution in dots per inch.
    public var resolutionHeightDPI: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The exposure mode: 0 for automatic, 1 for manual, 2 for automatic bracketing.
    public var exposureMode: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The exposure time in seconds.
    public var exposureTime: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The version of the EXIF header.
    public var exifVersion: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The version of the GPS block in the EXIF header.
    public var exifgpsVersion: String? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the image has an alpha channel (1) or not (0).
    public var hasAlphaChannel: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether red-eye reduction was on (1) or off (0).
    public var redEyeOn: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The metering mode.
    public var meteringMode: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The widest aperture of the lens as an APEX value.
    public var maxAperture: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The f-number of the lens.
    public var fNumber: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The exposure program of the camera.
    public var exposureProgram: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The exposure time as text.
    public var exposureTimeString: String? {
        get { value() }
        set { store(newValue) }
    }
}

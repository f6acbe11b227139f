// SPDX-License-Identifier: Apache-2.0

/// The largest embedded JPEG in a camera's raw file, which is what the camera displays.
struct RawPreview {
    var source: PictureSource
    /// The size of the raw picture, in pixels; nil if no directory states it.
    var size: (width: Int, height: Int)?

    /// The positions of JPEGs, as pairs of tags for position and length: in EXIF, TIFF strips and
    /// Panasonic's raw files.
    private static let pointers = [(0x0201, 0x0202), (0x0111, 0x0117)]
    private static let panasonicJPEG = 0x002E

    init?(_ file: PictureSource) {
        var candidates: [PictureSource] = []
        // The header of a Fujifilm file contains the position of the JPEG.
        let head = file.read(at: 0, count: 96)
        if head.starts(with: "FUJIFILMCCD-RAW".utf8), let offset = head.number(at: 84, bytes: 4),
            let length = head.number(at: 88, bytes: 4)
        {
            candidates += [file.part(at: offset, count: length)].compactMap { $0 }
        }
        if let tiff = TIFFFile(file) {
            let main = tiff.directories
            let all = main + main.flatMap { $0.directories(0x014A) }
            for directory in all {
                for (offset, length) in Self.pointers {
                    candidates += [directory.part(offset: offset, length: length)].compactMap { $0 }
                }
                if let width = directory.integer(0x0100), let height = directory.integer(0x0101),
                    width < 1 << 20, height < 1 << 20, width * height > (size.map { $0.width * $0.height } ?? 0)
                {
                    size = (width, height)
                }
            }
            if let jpeg = main.first?.bytes(Self.panasonicJPEG, limit: 0x1000000).map(PictureSource.init) {
                candidates.append(jpeg)
            }
        }
        let previews = candidates.filter { $0.read(at: 0, count: 3) == [0xFF, 0xD8, 0xFF] }
        guard let largest = previews.max(by: { $0.count < $1.count }) else { return nil }
        source = largest
    }
}

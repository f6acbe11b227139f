// SPDX-License-Identifier: Apache-2.0

/// The headers of an ELF file: enough to refuse what the dynamic linker would refuse, without starting a worker. The
/// layout is that of the System V ABI, `Elf64_Ehdr` and `Elf64_Phdr`.
struct LibraryHeader {
    /// The bytes that are read of a library: its header and, wherever a linker puts them, its program headers.
    static let byteCount = 64 + maximumSegments * Segment.bytes
    /// The most program headers that are looked at; libraries have about ten.
    private static let maximumSegments = 64

    private enum Offset {
        static let elfClass = 4
        static let byteOrder = 5
        static let type = 16
        static let machine = 18
        static let segments = 32
        static let segmentBytes = 54
        static let segmentCount = 56
    }
    private enum Segment {
        static let bytes = 56
        static let offset = 8
        static let fileBytes = 32
        static let load: UInt64 = 1  // PT_LOAD
        static let dynamic: UInt64 = 2  // PT_DYNAMIC
    }
    private static let headerBytes = 64
    private static let machineEnd = 20
    private static let sharedObject: UInt64 = 3  // ET_DYN

    #if arch(x86_64)
        private static let machine: UInt64 = 62
    #elseif arch(arm64)
        private static let machine: UInt64 = 183
    #elseif arch(riscv64)
        private static let machine: UInt64 = 243
    #else
        #error("Name this architecture's ELF machine number here.")
    #endif

    private let bytes: [UInt8]
    private let isLittle: Bool

    /// Checks that the bytes begin a shared library for this machine, and that all of it can be there.
    ///
    /// - Parameters:
    ///   - bytes: The first ``byteCount`` of the file, or all there are.
    ///   - size: How many bytes the file has.
    static func check(_ bytes: [UInt8], size: Int64, name: String) throws(BundleProblem) {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            let found = bytes.isEmpty ? "the file is empty" : "it is not an ELF file"
            throw .notALibrary(name: name, found: found)
        }
        guard bytes.count >= machineEnd else {
            throw .damagedLibrary(name: name, found: "it ends within its header")
        }
        let header = LibraryHeader(bytes: bytes, isLittle: bytes[Offset.byteOrder] != 2)
        try header.checkKind(name)
        try header.checkSegments(name, size: size)
    }

    private init(bytes: [UInt8], isLittle: Bool) {
        self.bytes = bytes
        self.isLittle = isLittle
    }

    /// A number of some bytes, which are there.
    private func number(_ offset: Int, bytes count: Int) -> UInt64 {
        let part = bytes[offset..<offset + count]
        return isLittle
            ? part.reversed().reduce(0) { $0 << 8 | UInt64($1) } : part.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func checkKind(_ name: String) throws(BundleProblem) {
        let is64 = bytes[Offset.elfClass] == 2
        let found = number(Offset.machine, bytes: 2)
        guard found == Self.machine, is64, isLittle else {
            let architecture = Self.architecture(found, is64: is64)
            throw .wrongArchitecture(
                name: name, found: isLittle ? architecture : "big-endian \(architecture)",
                expected: Self.architecture(Self.machine, is64: true))
        }
        let type = number(Offset.type, bytes: 2)
        guard type == Self.sharedObject else {
            let kinds: [UInt64: String] = [1: "an object file (.o)", 2: "a program", 4: "a core dump"]
            throw .notALibrary(
                name: name, found: "it is \(kinds[type] ?? "an ELF file of type \(type)"), not a shared object")
        }
    }

    private func checkSegments(_ name: String, size: Int64) throws(BundleProblem) {
        let damaged = { (found: String) in BundleProblem.damagedLibrary(name: name, found: found) }
        guard bytes.count >= Self.headerBytes else { throw damaged("it ends within its header") }
        let count = number(Offset.segmentCount, bytes: 2)
        let start = number(Offset.segments, bytes: 8)
        guard number(Offset.segmentBytes, bytes: 2) == Segment.bytes, (1...UInt64(Self.maximumSegments)).contains(count)
        else { throw damaged("its header speaks of \(count) segments") }
        let (end, overflows) = start.addingReportingOverflow(count * UInt64(Segment.bytes))
        guard !overflows, end <= size else { throw damaged("its segments are said to be listed beyond its end") }
        // A linker puts the list right behind the header; one elsewhere is left to the dynamic linker.
        guard end <= bytes.count else { return }
        var isDynamic = false
        for index in 0..<Int(count) {
            let place = Int(start) + index * Segment.bytes
            let kind = number(place, bytes: 4)
            guard kind == Segment.load || kind == Segment.dynamic else { continue }
            if kind == Segment.dynamic { isDynamic = true }
            let (last, overflows) = number(place + Segment.offset, bytes: 8)
                .addingReportingOverflow(number(place + Segment.fileBytes, bytes: 8))
            guard !overflows, last <= size else {
                throw damaged("it has \(size) bytes and should have at least \(last)")
            }
        }
        guard isDynamic else {
            throw .notALibrary(name: name, found: "it has no dynamic section, so that it cannot be loaded")
        }
    }

    private static func architecture(_ machine: UInt64, is64: Bool) -> String {
        let names: [UInt64: String] = [
            3: "i386", 8: "MIPS", 20: "PowerPC", 21: "64-bit PowerPC", 22: "s390", 40: "ARM", 62: "x86-64",
            183: "AArch64", 243: "RISC-V",
        ]
        return names[machine].map { is64 || machine == 3 ? $0 : "32-bit \($0)" } ?? "machine number \(machine)"
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The first bytes of an ELF file: enough to refuse what the dynamic linker would refuse, without starting a worker.
/// The layout is that of the System V ABI, `Elf64_Ehdr`.
struct LibraryHeader {
    /// The bytes needed to judge a library.
    static let byteCount = 20

    private enum Offset {
        static let elfClass = 4
        static let byteOrder = 5
        static let type = 16
        static let machine = 18
    }
    private static let sharedObject: UInt16 = 3  // ET_DYN

    #if arch(x86_64)
        private static let machine: UInt16 = 62
    #elseif arch(arm64)
        private static let machine: UInt16 = 183
    #elseif arch(riscv64)
        private static let machine: UInt16 = 243
    #else
        #error("Name this architecture's ELF machine number here.")
    #endif

    /// Checks that the bytes begin a shared library for this machine.
    static func check(_ bytes: [UInt8], name: String) throws(BundleProblem) {
        guard bytes.count >= byteCount, bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            throw .notALibrary(name: name, found: bytes.isEmpty ? "the file is empty" : "it is not an ELF file")
        }
        let is64 = bytes[Offset.elfClass] == 2
        let isLittle = bytes[Offset.byteOrder] == 1
        func half(_ offset: Int) -> UInt16 {
            let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        let found = half(Offset.machine)
        guard found == machine, is64, isLittle else {
            throw .wrongArchitecture(
                name: name, found: architecture(found, is64: is64), expected: architecture(machine, is64: true))
        }
        let type = half(Offset.type)
        guard type == sharedObject else {
            throw .notALibrary(name: name, found: "it is an ELF file of type \(type), not a shared object")
        }
    }

    private static func architecture(_ machine: UInt16, is64: Bool) -> String {
        let names: [UInt16: String] = [
            3: "i386", 8: "MIPS", 20: "PowerPC", 21: "64-bit PowerPC", 22: "s390", 40: "ARM", 62: "x86-64",
            183: "AArch64", 243: "RISC-V",
        ]
        return names[machine].map { is64 || machine == 3 ? $0 : "32-bit \($0)" } ?? "machine number \(machine)"
    }
}

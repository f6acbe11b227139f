// SPDX-License-Identifier: Apache-2.0
internal import CSystem

/// Rejects libraries that the dynamic linker would reject, without starting a worker.
enum LibraryHeader {
    /// The number of bytes to read from a library: its header, and the program headers that linkers
    /// put directly after it.
    static let byteCount = MemoryLayout<Elf64_Ehdr>.size + maximumSegments * MemoryLayout<Elf64_Phdr>.size
    /// The maximum number of program headers to check. Libraries have about ten.
    private static let maximumSegments = 64
    /// The number of bytes up to the end of `e_machine`, which has the same offset in 32-bit
    /// headers.
    private static let machineEnd = 20

    #if arch(x86_64)
        private static let machine = UInt16(EM_X86_64)
    #elseif arch(arm64)
        private static let machine = UInt16(EM_AARCH64)
    #elseif arch(riscv64)
        private static let machine = UInt16(EM_RISCV)
    #else
        #error("Name this architecture's ELF machine number here.")
    #endif

    /// Checks that the bytes are the start of a shared library for this machine, and that its
    /// segments lie within the file.
    ///
    /// - Parameters:
    ///   - bytes: The first ``byteCount`` bytes of the file, or the whole file if it is shorter.
    ///   - size: The size of the file, in bytes.
    static func check(_ bytes: [UInt8], size: Int64, name: String) throws(BundleProblem) {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            let found = bytes.isEmpty ? "the file is empty" : "it is not an ELF file"
            throw .notALibrary(name: name, found: found)
        }
        guard bytes.count >= machineEnd else {
            throw .damagedLibrary(name: name, found: "it ends within its header")
        }
        let missing = max(0, MemoryLayout<Elf64_Ehdr>.size - bytes.count)
        let header = (bytes + [UInt8](repeating: 0, count: missing)).withUnsafeBytes {
            $0.loadUnaligned(as: Elf64_Ehdr.self)
        }
        try checkKind(header, name)
        guard missing == 0,
            let file = ELFFile(read: { position, count in
                position <= bytes.count && count <= bytes.count - position
                    ? Array(bytes[position..<position + count]) : nil
            })
        else { throw .damagedLibrary(name: name, found: "it ends within its header") }
        try checkSegments(of: file, name, size: UInt64(max(0, size)), readBytes: bytes.count)
    }

    private static func checkKind(_ header: Elf64_Ehdr, _ name: String) throws(BundleProblem) {
        let is64 = header.e_ident.4 == ELFCLASS64
        let isLittle = header.e_ident.5 != ELFDATA2MSB
        let found = isLittle ? header.e_machine : header.e_machine.byteSwapped
        guard found == machine, is64, isLittle else {
            let architecture = architecture(found, is64: is64)
            throw .wrongArchitecture(
                name: name, found: isLittle ? architecture : "big-endian \(architecture)",
                expected: Self.architecture(machine, is64: true))
        }
        let type = header.e_type
        guard type == ET_DYN else {
            let kinds: [UInt16: String] = [1: "an object file (.o)", 2: "a program", 4: "a core dump"]
            throw .notALibrary(
                name: name, found: "it is \(kinds[type] ?? "an ELF file of type \(type)"), not a shared object")
        }
    }

    private static func checkSegments(
        of file: ELFFile, _ name: String, size: UInt64, readBytes: Int
    ) throws(BundleProblem) {
        let damaged = { (found: String) in BundleProblem.damagedLibrary(name: name, found: found) }
        let (count, entrySize) = (file.header.e_phnum, MemoryLayout<Elf64_Phdr>.size)
        guard file.header.e_phentsize == entrySize, (1...UInt16(maximumSegments)).contains(count) else {
            throw damaged("its header declares \(count) segments")
        }
        let (end, overflows) = file.header.e_phoff.addingReportingOverflow(UInt64(count) * UInt64(entrySize))
        guard !overflows, end <= size else { throw damaged("its segment table is beyond its end") }
        // Linkers put the table directly after the header. A table elsewhere is left to the dynamic
        // linker.
        guard end <= readBytes else { return }
        let segments = file.segments
        for segment in segments where segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC {
            let (last, overflows) = segment.p_offset.addingReportingOverflow(segment.p_filesz)
            guard !overflows, last <= size else {
                throw damaged("it has \(size) bytes and should have at least \(last)")
            }
        }
        guard segments.contains(where: { $0.p_type == PT_DYNAMIC }) else {
            throw .notALibrary(name: name, found: "it has no dynamic section, so it cannot be loaded")
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

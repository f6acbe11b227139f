// SPDX-License-Identifier: Apache-2.0
import CEmbeddingKernels

/// An instruction set level for which the kernels are compiled.
package enum KernelLevel: String, CaseIterable, Sendable {
    /// Plain C, for any processor.
    case portable
    /// AVX2 with FMA (x86-64-v3).
    case avx2
    /// AVX-512 F, BW, DQ and VL (x86-64-v4).
    case avx512
    /// Advanced SIMD on 64-bit ARM.
    case neon

    /// The levels that this processor can run.
    package static var available: [KernelLevel] { allCases.filter { $0.table != nil } }

    /// The fastest level that this processor can run.
    package static var best: KernelLevel { available.last ?? .portable }

    private var table: UnsafePointer<cembedding_kernels>? {
        switch self {
        case .portable: cembedding_kernels_at(CEMBEDDING_PORTABLE)
        case .avx2: cembedding_kernels_at(CEMBEDDING_AVX2)
        case .avx512: cembedding_kernels_at(CEMBEDDING_AVX512)
        case .neon: cembedding_kernels_at(CEMBEDDING_NEON)
        }
    }

    /// The kernels of this level, or the portable ones if this processor cannot run them.
    var kernels: cembedding_kernels {
        guard let table = table ?? KernelLevel.portable.table else {
            preconditionFailure("the portable kernels are always compiled in")
        }
        return table.pointee
    }
}

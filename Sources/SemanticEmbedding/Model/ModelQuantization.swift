// SPDX-License-Identifier: Apache-2.0
import CEmbeddingKernels
import Glibc
import SystemSupport

/// Writes a copy of a model with 8-bit matrix elements, at a quarter of the size.
///
/// A scale is the largest magnitude among the elements that share it, divided by 127. In the word
/// embedding table, each row has one scale. In the matrices used in products, each group of 64
/// columns in a row has a scale, because some columns of some rows are much larger than the others.
/// These matrices are stored in the order in which the kernels read them. Position embeddings,
/// biases and norms remain floats. The file is a safetensors file; ``EncoderWeights`` describes its
/// tensors.
package enum ModelQuantization {
    /// Writes a model into a folder, which must exist and must not contain model files.
    ///
    /// When the function returns, the files are complete on disk. If it throws, some of them may
    /// exist, so the caller should write to a new folder and rename it.
    package static func write(_ folder: ModelFolder, to path: String) throws(EmbeddingError) {
        let weights = try EncoderWeights(path: folder.weightsPath, configuration: folder.configuration)
        var writer = QuantizedTensors()
        writer.add(table: weights.words, EncoderWeights.wordsName)
        writer.add(floats: weights.positions, EncoderWeights.positionsName)
        writer.add(floats: weights.tokenTypes, EncoderWeights.tokenTypesName)
        writer.add(weights.embeddingNorm)
        for layer in weights.layers {
            for linear in [
                layer.query, layer.key, layer.value, layer.attentionOutput, layer.intermediate, layer.output,
            ] {
                writer.add(linear)
            }
            writer.add(layer.attentionNorm)
            writer.add(layer.outputNorm)
        }
        try writer.write(to: path + "/" + ModelFolder.weightsName)
        for name in [ModelFolder.configurationName, folder.vocabularyName] {
            let source = folder.path + "/" + name
            let bytes: [UInt8]
            do { bytes = try BoundedFile.regular(source, limit: ModelFolder.vocabularyBytes) } catch {
                throw .file(path: source, reason: error.description)
            }
            try write([bytes], to: path + "/" + name)
        }
        try write([Array(folder.settings.json.utf8)], to: path + "/" + ModelSettings.fileName)
    }

    /// Writes a new file and synchronizes it to disk.
    package static func write(_ parts: [[UInt8]], to path: String) throws(EmbeddingError) {
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw failed(path, errno) }
        let file = OwnedDescriptor(adopting: number)
        for part in parts {
            let result = part.withUnsafeBytes { WholeTransfer.write($0, to: file.number) }
            if case .failure(let error) = result { throw failed(path, error.code) }
        }
        guard fsync(file.number) == 0 else { throw failed(path, errno) }
    }

    private static func failed(_ path: String, _ code: Int32) -> EmbeddingError {
        .file(path: path, reason: "it cannot be written: \(String(cString: strerror(code))).")
    }
}

/// The tensors of a quantized model, kept in memory.
private struct QuantizedTensors {
    private var descriptions: [String] = []
    private var parts: [[UInt8]] = []
    private var size = 0
    private let kernels = KernelLevel.portable.kernels

    mutating func add(table matrix: EncoderWeights.Matrix, _ name: String) {
        let (rows, columns) = (matrix.view.rows, matrix.view.columns)
        var elements = [UInt8](repeating: 0, count: rows * columns)
        let scales = FloatBuffer(count: rows)
        quantize(matrix, group: columns) { row, _, scale in
            scales.base[row] = scale
        } element: { row, column, value in
            elements[row * columns + column] = value
        }
        append(name, "I8", [rows, columns], elements)
        append(name + EncoderWeights.scaleSuffix, "F32", [rows], bytes(of: scales))
    }

    mutating func add(_ linear: EncoderWeights.Linear) {
        let (rows, columns, panel) = (linear.weights.view.rows, linear.weights.view.columns, Int(CEMBEDDING_PANEL))
        var elements = [UInt8](repeating: 0, count: rows * columns)
        let groups = EncoderWeights.groups(columns)
        let scales = FloatBuffer(count: rows * groups)
        /// Returns the position of an element or a scale. 16 rows are interleaved.
        func position(_ row: Int, _ index: Int, _ count: Int) -> Int {
            (row / panel * count + index) * panel + row % panel
        }
        quantize(linear.weights, group: Int(CEMBEDDING_GROUP)) { row, group, scale in
            scales.base[position(row, group, groups)] = scale
        } element: { row, column, value in
            elements[position(row, column, columns)] = value
        }
        let name = linear.name + ".weight"
        append(name, "I8", [rows / panel, columns, panel], elements)
        append(name + EncoderWeights.scaleSuffix, "F32", [rows / panel, groups, panel], bytes(of: scales))
        append(linear.name + ".bias", "F32", [rows], bytes(of: linear.bias))
    }

    mutating func add(_ norm: EncoderWeights.Norm) {
        append(norm.name + ".weight", "F32", [norm.gain.count], bytes(of: norm.gain))
        append(norm.name + ".bias", "F32", [norm.shift.count], bytes(of: norm.shift))
    }

    mutating func add(floats matrix: EncoderWeights.Matrix, _ name: String) {
        let (rows, columns) = (matrix.view.rows, matrix.view.columns)
        let floats = FloatBuffer(count: rows * columns)
        withUnsafePointer(to: matrix.view) { view in
            for row in 0..<rows { kernels.add_row(view, row, floats.base + row * columns) }
        }
        append(name, "F32", [rows, columns], bytes(of: floats))
    }

    /// Calls `scale` with the row, the group and the scale of each group of columns, and `element`
    /// with the row, the column and the bits of each element.
    private func quantize(
        _ matrix: EncoderWeights.Matrix, group: Int, scale: (Int, Int, Float) -> Void,
        element: (Int, Int, UInt8) -> Void
    ) {
        let row = FloatBuffer(count: matrix.view.columns)
        for index in 0..<matrix.view.rows {
            row.base.update(repeating: 0, count: row.count)
            withUnsafePointer(to: matrix.view) { kernels.add_row($0, index, row.base) }
            for start in stride(from: 0, to: row.count, by: group) {
                let columns = start..<min(start + group, row.count)
                let int8 = Int8Scale(UnsafeBufferPointer(start: row.base + start, count: columns.count))
                scale(index, start / group, int8.scale)
                for column in columns { element(index, column, UInt8(bitPattern: int8.quantize(row.base[column]))) }
            }
        }
    }

    private func bytes(of floats: FloatBuffer) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: floats.base, count: floats.count * MemoryLayout<Float>.stride))
    }

    private mutating func append(_ name: String, _ type: String, _ shape: [Int], _ bytes: [UInt8]) {
        let offsets = "[\(size),\(size + bytes.count)]"
        descriptions.append(#""\#(name)":{"dtype":"\#(type)","shape":\#(shape),"data_offsets":\#(offsets)}"#)
        parts.append(bytes)
        size += bytes.count
    }

    func write(to path: String) throws(EmbeddingError) {
        var table = Array("{\(descriptions.joined(separator: ","))}".utf8)
        // The data must begin at a multiple of 8 bytes.
        while !table.count.isMultiple(of: 8) { table.append(UInt8(ascii: " ")) }
        let length = withUnsafeBytes(of: UInt64(table.count).littleEndian) { Array($0) }
        try ModelQuantization.write([length, table] + parts, to: path)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord

extension ChangeList {
    /// Adds the changes from one call to an open batch, either all of them or none. Until a batch
    /// ends, it exists only here.
    ///
    /// - Throws: ``CSIndexError/Code/quotaExceeded`` if the batch would become too large; it is
    ///   then unchanged.
    mutating func stage(_ changes: [EncodedChange]) throws(CSIndexError) {
        do throws(TooLarge) {
            try appendToBatch(changes)
        } catch {
            throw CSIndexError(
                .quotaExceeded,
                "The call was not added to the batch of \(count) changes (\(bytes.count) bytes). With it the "
                    + "batch would have \(error.count) changes (\(error.bytes) bytes); the limits are "
                    + "\(Self.maximumChanges) and \(Self.maximumBatchBytes). End the batch, begin another one and repeat the "
                    + "call there.")
        }
    }
}

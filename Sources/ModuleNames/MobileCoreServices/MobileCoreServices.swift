// SPDX-License-Identifier: Apache-2.0

// The module that contained the type constants and functions before UniformTypeIdentifiers existed.
// Older source imports this name.
@_exported import UniformTypeIdentifiers

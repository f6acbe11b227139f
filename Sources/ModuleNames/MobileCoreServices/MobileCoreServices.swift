// SPDX-License-Identifier: Apache-2.0

// The module of the type constants and functions before UniformTypeIdentifiers. Older source
// imports this name.
@_exported import UniformTypeIdentifiers

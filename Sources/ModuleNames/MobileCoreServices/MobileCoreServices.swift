// SPDX-License-Identifier: Apache-2.0

// Where the constants and functions for types stood before UniformTypeIdentifiers; older source imports it by this name.
@_exported import UniformTypeIdentifiers

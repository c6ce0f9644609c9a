import PrefsJSON
package import PrefsPropertyLists

extension EncodingFailure {
    /// Whether a failure is expected. XML has no form for some values of the binary format, and a UID takes an
    /// additional level there. JSON has no form for a UID.
    package func isExpected(in format: FileFormat) -> Bool {
        format == .json && reason == "holds a value that cannot be stored in JSON"
            || format == .xml
                && ["cannot be stored in XML", "a dictionary of a lone number CF$UID", "nested deeper than"].contains {
                    reason.hasPrefix($0) || reason.hasSuffix($0)
                }
    }
}

/// Throws unless each failure is at the key or inside of it, and has a reason.
package func checkFailures(_ failures: [PropertyListFailure], of key: String) throws {
    try demand(!failures.isEmpty, "refused without a failure")
    for failure in failures {
        try demand(failure.topLevelKey == key && failure.path.hasPrefix(key), "a failure elsewhere: \(failure)")
        try demand(!failure.reason.isEmpty, "a failure without a reason at \(failure.path)")
    }
}

import TestSupport

/// The base class of suites whose tests have a folder of their own.
class FolderSuite {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }
}

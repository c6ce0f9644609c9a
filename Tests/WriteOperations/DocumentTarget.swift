package import Foundation
import PersistentPreferences
import PrefsSettingsFiles

/// A folder with the files of the document operations, and what an operation stores there.
package struct DocumentTarget: Sendable {
    /// The number that an operation stores in each file.
    package static let number = 2

    private let folder: URL

    package init(in folder: URL) {
        self.folder = folder
    }

    /// The file that an operation writes.
    package func file(of operation: WriteOperation) -> URL {
        operation == .modelsSave ? folder.appending(path: "Models.plist") : folder.appending(path: "Settings.plist")
    }

    /// A folder whose property list has the initial values of the settings.
    private var bundle: URL { folder.appending(path: "Bundle") }

    /// Performs an operation. What it stores has the number; what was there is kept by those that only load.
    package func perform(_ operation: WriteOperation) throws {
        try Settings.$failure.withValue(Locked(nil)) {
            try Settings.$file.withValue(file(of: .settingsSave)) {
                var settings = Settings(number: Self.number)
                switch operation {
                case .settingsSave: try settings.trySave()
                case .settingsLoad: try settings.tryLoad()
                case .settingsLoadFromBundle:
                    try succeed(Settings.$bundle.withValue(madeBundle()) { settings.loadUsingSettingsFile() })
                case .settingsReset: try succeed(Settings.$bundle.withValue(madeBundle()) { settings.reset() })
                case .settingsDelete: try succeed(settings.delete())
                case .modelsSave:
                    let list = try PropertyListController<Settings>(url: file(of: .modelsSave))
                    list.models = [settings]
                    try list.save()
                default: preconditionFailure("\(operation) does not write a document")
                }
            }
        }
    }

    private func madeBundle() throws -> Bundle {
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["number": Self.number], format: .xml, options: 0)
        try list.write(to: bundle.appending(path: "Settings.plist"))
        guard let bundle = Bundle(url: bundle) else { throw CocoaError(.fileReadUnknown) }
        return bundle
    }

    /// Throws what a method that has returned false has told.
    private func succeed(_ isDone: Bool) throws {
        if !isDone { throw Settings.failure.withLock { $0 } ?? .unknownError(error: nil) }
    }

    private struct Settings: SettingsFile {
        @TaskLocal static var file = URL(filePath: "/dev/null")
        @TaskLocal static var bundle = Bundle.main
        @TaskLocal static var failure = Locked<PrefsError?>(nil)

        static var settingsBundle: Bundle { bundle }

        func settingsDidFail(_ error: PrefsError) { Self.failure.withLock { $0 = error } }

        var number = 0

        static var settingsURL: URL { file }
    }
}

import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The folder of a layer that has one file for each key. Never written.
final class SecretsFolder: Sendable {
    /// Absolute.
    private let path: String
    /// The keys whose values have come from the folder. They stay secrets when their files are gone.
    private let keys = Locked<Set<String>>([])

    init(_ path: String) {
        self.path = path
    }

    /// The folder at one moment. A class, because each read of a root copies it. Its texts are never printed, because the
    /// stack of layers has it behind a lock.
    final class Reading: Sendable {
        let folder: SecretsFolder
        let files: FilesOfFolder
        let texts: TextLayer

        fileprivate init(_ folder: SecretsFolder, _ files: FilesOfFolder) {
            (self.folder, self.files) = (folder, files)
            let contents = files.files.mapValues { file -> LayerText.Content in
                switch file {
                case .success(let bytes): String(validUTF8: bytes).map(VariableSource.content) ?? .notText
                case .failure(let failure): .flaw(reason: failure.reason)
                }
            }
            texts = TextLayer(VariableSource(files: contents, writable: files.writable, in: folder.path))
        }
    }

    /// 1 MiB is the limit of Kubernetes for all values of a secret, and above those of Docker and systemd.
    func read() -> Reading { Reading(self, FilesOfFolder.read(path, limit: 1 << 20)) }

    /// Remembers that a value of the key came from the folder.
    func hide(_ key: String) { keys.withLock { _ = $0.insert(key) } }

    func hides(_ key: String) -> Bool { keys.withLock { $0.contains(key) } }
}

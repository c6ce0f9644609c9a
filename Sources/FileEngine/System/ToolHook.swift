package import Foundation
package import PrefsPropertyLists

/// The bytes of a file before and after a commit, for an undo.
package struct FileReplacement: Sendable {
    /// The physical path of the file.
    package let path: String
    /// The bytes before the commit; nil if there was no file. For a damaged file, the newest known state, because its
    /// bytes are in quarantine.
    package let before: Data?
    /// The bytes after the commit; nil if the file was removed.
    package let after: FileBytes?

    package init(path: String, before: Data?, after: FileBytes?) {
        self.path = path
        self.before = before
        self.after = after
    }
}

/// What the tool `prefs` asks of the engine for the accesses of a task: it also changes files of other programs, undoes
/// its writes, and runs commands for another environment.
package struct ToolHook: Sendable {
    /// nil, the default, for every other program.
    @TaskLocal package static var current: ToolHook?

    /// The physical paths of the program's own files; nil means that all files are its own.
    ///
    /// An update of another file leaves nothing beside it: it removes the lock file (but not on a server), makes no last
    /// good copy, and gives a new file the permissions of the umask. The file of a domain, and a file that already has a
    /// last good copy, count as own files.
    package var ownFiles: Set<String>?
    /// The most permissions of such a new file.
    package var modeOfNewFiles: mode_t = 0o666
    /// The folder for settings, in place of that of the process. Used on Linux only.
    package var configurationFolder: Result<String, StorageFailure>?
    /// Called with each commit, under the write lock, after the file was replaced.
    package var committed: (@Sendable (FileReplacement) -> Void)?

    package init(ownFiles: Set<String>? = nil, committed: (@Sendable (FileReplacement) -> Void)? = nil) {
        (self.ownFiles, self.committed) = (ownFiles, committed)
    }
}

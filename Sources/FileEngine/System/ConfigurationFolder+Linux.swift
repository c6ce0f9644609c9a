#if os(Linux) || os(Android)
    import Foundation
    import PrefsPropertyLists

    /// The folder for settings on Linux. UserDefaults keeps its domains there, too.
    package enum ConfigurationFolder {
        /// The folder. A task that runs a command for another environment has another one than the process.
        package static var path: Result<String, StorageFailure> {
            ToolHook.current?.configurationFolder ?? pathOfProcess
        }

        /// From the variables at the start of the process, because UserDefaults ignores later changes of them.
        private static let pathOfProcess = path(
            of: { withInitial($0) { String(validatingCString: $0) } ?? nil },
            isSet: { withInitial($0) { $0.pointee != 0 } ?? false })

        /// Runs the closure with another folder.
        package static func withPath<R>(
            _ path: Result<String, StorageFailure>, _ body: () throws -> R
        ) rethrows -> R {
            var hook = ToolHook.current ?? ToolHook()
            hook.configurationFolder = path
            return try ToolHook.$current.withValue(hook, operation: body)
        }

        /// `$XDG_CONFIG_HOME`, if absolute, or `$HOME/.config`.
        ///
        /// - Parameters:
        ///   - variable: the value of a variable; nil if it is not set, or is not text.
        ///   - isSet: whether such a variable is set, and not empty.
        package static func path(
            of variable: (String) -> String?, isSet: (String) -> Bool = { _ in false }
        ) -> Result<String, StorageFailure> {
            if let config = variable("XDG_CONFIG_HOME"), config.utf8.first == slash {
                return .success(normalized(config))
            }
            // Otherwise, other settings than those of the variable would be read.
            if variable("XDG_CONFIG_HOME") == nil, isSet("XDG_CONFIG_HOME") {
                return .failure(
                    StorageFailure(path: "", reason: "no configuration folder: XDG_CONFIG_HOME is not UTF-8"))
            }
            guard let home = variable("HOME"), !home.isEmpty else {
                // UserDefaults would write to /.config.
                guard isSet("HOME") else {
                    return .failure(StorageFailure(path: "", reason: "no home folder: HOME is not set, or empty"))
                }
                return .failure(StorageFailure(path: "", reason: "no home folder: HOME is not UTF-8"))
            }
            guard home.utf8.first == slash else {
                return .failure(StorageFailure(path: home, reason: "HOME is not an absolute path"))
            }
            return .success(normalized(home + "/.config"))
        }

        private static let slash = UInt8(ascii: "/")

        /// Removes repeated slashes and a slash at the end. Does not use `joined`, which would look for conformances
        /// and make every program start more slowly.
        private static func normalized(_ path: String) -> String {
            let parts = PathResolution.parts(of: path)
            return parts.isEmpty ? "/" : parts.reduce(into: "") { $0 += "/" + $1 }
        }

        /// The bundle identifier or, without one, the name of the executable.
        package static let program: Result<String, StorageFailure> = {
            // Without /proc, `Bundle.main` ends the program, and UserDefaults uses the empty name for every program.
            guard let path = try? SystemCalls.real.linkTarget("/proc/self/exe"), !isLoader(path) else {
                let reason = "the name of the program is unknown, because there is no /proc; name a suite or a file"
                return programName(startedAs: [executedPath, CommandLine.arguments.first].compactMap { $0 })
                    .map { .success($0) } ?? .failure(StorageFailure(path: "", reason: reason))
            }
            if let identifier = Bundle.main.bundleIdentifier { return .success(identifier) }
            let name = FileNames(path: path).file
            // The kernel adds this to the name of a program that was replaced while it runs, for example by an upgrade.
            let mark = " (deleted)"
            let isReplaced = name.hasSuffix(mark) && !FileManager.default.fileExists(atPath: path)
            return .success(isReplaced ? String(name.dropLast(mark.count)) : name)
        }()

        /// Whether a path is that of the dynamic loader (ld.so(8)), which is the executable of each program that is started
        /// through it: `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`, `ld-2.31.so`, `ld64.so.1`.
        static func isLoader(_ path: String) -> Bool {
            let name = PathResolution.parts(of: path).last ?? ""
            return name.hasPrefix("ld") && (name.hasSuffix(".so") || name.contains(".so."))
                && name.dropFirst(2).first.map { "-.0123456789".contains($0) } == true
        }

        /// The name of the file that the first path leads to that is not the loader's; nil if there is none.
        static func programName(startedAs paths: [String]) -> String? {
            paths.lazy.filter { !isLoader($0) }.compactMap { path in
                // As the kernel does for /proc/self/exe. The working folder may have changed since.
                let file = realpath(path, nil)
                defer { free(file) }
                return PathResolution.parts(of: file.flatMap { String(validatingCString: $0) } ?? path).last
            }.first
        }

        /// The path that the program was started by. The kernel gives it without /proc, and the loader of glibc puts the path
        /// of the program in place of its own.
        private static var executedPath: String? {
            // AT_EXECFN, which the system's module does not have.
            UnsafePointer<CChar>(bitPattern: auxiliaryValue(31)).flatMap {
                String(validatingCString: $0)
            }
        }

        // The system's module does not have it.
        @_silgen_name("getauxval")
        private static func auxiliaryValue(_ type: UInt) -> UInt

        /// Runs the body with the value of a variable at the start of the process, as a C string, because a path that is
        /// not UTF-8 must not be repaired: it would name another file. nil if the variable is not set.
        ///
        /// Reads no dictionary of all variables, which would cost every program a third of a millisecond at its start.
        private static func withInitial<R>(_ name: String, _ body: (UnsafePointer<CChar>) -> R) -> R? {
            guard let block = initialEnvironment, !block.isEmpty else { return getenv(name).map { body($0) } }
            let prefix = name + "="
            return block.withUnsafeBufferPointer { bytes in
                var entry = bytes.baseAddress
                while let start = entry, let end = bytes.baseAddress.map({ $0 + bytes.count }), start < end {
                    // getenv returns the first of two entries with the same name.
                    if strncmp(start, prefix, prefix.utf8.count) == 0 { return body(start + prefix.utf8.count) }
                    entry = start + strlen(start) + 1
                }
                return nil
            }
        }

        /// The entries, each ended by NUL; nil if they cannot be read.
        private static let initialEnvironment: [CChar]? = {
            let descriptor = open("/proc/self/environ", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var bytes: [CChar] = []
            var buffer = [CChar](repeating: 0, count: 16_384)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return nil }
                if count == 0 { break }
                bytes += buffer[..<count]
            }
            // Ends the block with NUL, because the process may have written over it.
            if bytes.last != 0, !bytes.isEmpty { bytes.append(0) }
            return bytes
        }()
    }
#endif

#if os(Linux) || os(Android)
    import Foundation

    extension LockHolder {
        /// Returns the processes that hold a lock on the file. The kernel's list names the process that took the lock.
        /// That process may have ended, and its number may belong to another process, while a forked child holds the
        /// lock. On btrfs and overlayfs, the list has other numbers of devices or files than `stat`. So a listed
        /// process is named only if it holds the lock; if none does, asks all accessible processes.
        package static func all(of path: String) -> [LockHolder] {
            guard let file = status(path) else { return [] }
            let listed = text("/proc/locks").split(separator: "\n").compactMap { taker($0, ofInode: file.st_ino) }
            // A process may be listed twice.
            let holders = listed.filter { holds(file, $0) }.sorted().reduce(into: [Int]()) { holders, pid in
                if holders.last != pid { holders.append(pid) }
            }
            if !holders.isEmpty { return holders.map(LockHolder.init) }
            let running = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int($0) } ?? []
            return running.filter { holds(file, $0) }.sorted().map(LockHolder.init)
        }

        private init(_ pid: Int) {
            // The state follows the name, which may contain parentheses.
            let status = Self.text("/proc/\(pid)/stat").utf8
            let state = status.lastIndex(of: UInt8(ascii: ")")).map { status[$0...].dropFirst(2) }?.first
            self.init(
                pid: pid, name: Self.text("/proc/\(pid)/comm").trimmingCharacters(in: .newlines),
                isStopped: state == UInt8(ascii: "T") || state == UInt8(ascii: "t"),
                isFrozen: ControlGroup.isFrozen(pid), isOwn: Self.status("/proc/\(pid)")?.st_uid == geteuid())
        }

        /// Parses `1: FLOCK  ADVISORY  WRITE 123 fe:00:456 0 EOF`. A line with an arrow names a waiting process.
        private static func taker(_ line: Substring, ofInode inode: ino_t) -> Int? {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(inode)") else { return nil }
            return Int(String(words[4]))
        }

        /// Returns true if a descriptor of the process holds a lock on the file. False if the caller may not look into
        /// the process.
        private static func holds(_ file: stat, _ pid: Int) -> Bool {
            let folder = "/proc/\(pid)"
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/fdinfo")) ?? []
            return descriptors.contains { descriptor in
                let lines = text("\(folder)/fdinfo/\(descriptor)").split(separator: "\n")
                // Asks only for the status of files with a lock, because the call could hang on another one.
                guard lines.contains(where: { $0.hasPrefix("lock:") && $0.contains(" FLOCK ") }) else { return false }
                let there = status("\(folder)/fd/\(descriptor)")
                return there?.st_dev == file.st_dev && there?.st_ino == file.st_ino
            }
        }

        private static func status(_ path: String) -> stat? {
            var status = stat()
            return stat(path, &status) == 0 ? status : nil
        }

        private static func text(_ path: String) -> String {
            SystemCalls.processFile(path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }
#endif

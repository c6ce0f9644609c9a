#if os(Linux) || os(Android)
    import Foundation

    extension LockHolder {
        /// Returns the processes that hold a lock on the file. The kernel's list names the process that took the lock.
        /// If that process has ended, a forked child may have inherited the lock. In that case, reads the descriptors
        /// of all accessible processes.
        package static func all(of path: String) -> [LockHolder] {
            guard let file = status(path) else { return [] }
            let lines = text("/proc/locks").split(separator: "\n").filter { isFlock($0, of: file) }
            let listed = lines.compactMap { $0.split(separator: " ").dropFirst(4).first.flatMap { Int($0) } }
            let listedNow = listed.filter { status("/proc/\($0)") != nil }
            if !listedNow.isEmpty { return Set(listedNow).sorted().map(LockHolder.init) }
            let running = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int($0) } ?? []
            let holding = running.filter { holds(file, $0) }
            return holding.sorted().map(LockHolder.init)
        }

        private init(_ pid: Int) {
            // The state follows the name, which may contain parentheses.
            let status = Self.text("/proc/\(pid)/stat").utf8
            let state = status.lastIndex(of: UInt8(ascii: ")")).map { status[$0...].dropFirst(2) }?.first
            self.init(
                pid: pid, name: Self.text("/proc/\(pid)/comm").trimmingCharacters(in: .newlines),
                isStopped: state == UInt8(ascii: "T") || state == UInt8(ascii: "t"),
                isOwn: Self.status("/proc/\(pid)")?.st_uid == geteuid())
        }

        /// Parses `1: FLOCK  ADVISORY  WRITE 123 fe:00:456 0 EOF`. A line with an arrow names a waiting process.
        private static func isFlock(_ line: Substring, of file: stat) -> Bool {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 5, words[1] == "FLOCK" else { return false }
            let numbers = words[5].split(separator: ":")
            guard numbers.count == 3, UInt64(numbers[2]) == UInt64(file.st_ino) else { return false }
            let (major, minor) = (UInt64(numbers[0], radix: 16), UInt64(numbers[1], radix: 16))
            let device = UInt64(file.st_dev)
            return major == device >> 8 & 0xFFF | device >> 32 & ~0xFFF
                && minor == device & 0xFF | device >> 12 & ~0xFF
        }

        /// Returns true if a descriptor of the process holds a lock on the file.
        private static func holds(_ file: stat, _ pid: Int) -> Bool {
            let folder = "/proc/\(pid)/fdinfo"
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return descriptors.contains { descriptor in
                text("\(folder)/\(descriptor)").split(separator: "\n").contains { line in
                    line.hasPrefix("lock:") && isFlock(line.dropFirst(5), of: file)
                }
            }
        }

        private static func status(_ path: String) -> stat? {
            var status = stat()
            return stat(path, &status) == 0 ? status : nil
        }

        /// Reads a file of `/proc`, whose size is unknown before it is read.
        private static func text(_ path: String) -> String {
            FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }
#endif

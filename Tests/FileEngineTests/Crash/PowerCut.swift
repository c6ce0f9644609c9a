/// The possible states of a volume after a power cut: every legal subset of the changes that were not flushed.
extension SimulatedVolume {
    /// - Parameter isThorough: whether each write of a file may be missing, torn or empty by itself. If false, all
    ///   writes of a file together are missing, torn, empty or complete.
    func statesAfterPowerCut(isThorough: Bool) -> [SimulatedVolume] {
        var states: [SimulatedVolume] = []
        var seen: Set<[String: [UInt8]]> = []
        for volume in statesOfFolders() {
            for state in volume.statesOfFiles(isThorough) where seen.insert(state.listing()).inserted {
                states.append(state)
            }
        }
        return states
    }

    private func statesOfFolders() -> [SimulatedVolume] {
        var states = [self]
        for (inode, node) in nodes.sorted(by: { $0.key < $1.key }) where node.kind == .folder {
            let variants = Self.variants(of: node.savedEntries, node.pendingChanges)
            states = states.flatMap { state in
                variants.map { entries in
                    var next = state
                    next[inode].entries = entries
                    (next[inode].savedEntries, next[inode].pendingChanges) = (entries, [])
                    return next
                }
            }
        }
        return states
    }

    private static func variants(of saved: [String: Inode], _ changes: [EntryChange]) -> [[String: Inode]] {
        var variants: Set = [saved]
        for change in changes {
            for entries in variants {
                for keepsOldName in [false, true] {
                    var next = entries
                    apply(change, to: &next, keepsOldName: keepsOldName)
                    variants.insert(next)
                }
            }
        }
        return Array(variants)
    }

    /// The possible states of the files that still have a name. Others are invisible.
    private func statesOfFiles(_ isThorough: Bool) -> [SimulatedVolume] {
        var states = [self]
        let named = Set(nodes.values.flatMap { $0.entries.values })
        for (inode, node) in nodes.sorted(by: { $0.key < $1.key }) where named.contains(inode) && node.kind == .file {
            // One commit has at most two writes, with an end. A copy that is never flushed has many more.
            let recent = isThorough ? node.pendingWrites.suffix(3) : []
            let earlier = node.pendingWrites.dropLast(recent.count)
            var merged = node.savedBytes
            earlier.forEach { Self.apply($0, to: &merged) }
            let first = earlier.isEmpty ? [] : [Write(offset: 0, bytes: merged, isEnd: true)]
            let variants = Self.variants(of: node.savedBytes, first + recent)
            states = states.flatMap { state in
                variants.map { bytes in
                    var next = state
                    next[inode].bytes = bytes
                    (next[inode].savedBytes, next[inode].pendingWrites) = (bytes, [])
                    return next
                }
            }
        }
        return states
    }

    private static func variants(of saved: [UInt8], _ writes: [Write]) -> Set<[UInt8]> {
        var variants: Set = [saved]
        for write in writes {
            let torn = Write(offset: write.offset, bytes: Array(write.bytes.prefix(write.bytes.count / 2)))
            // The length has reached the medium and the bytes have not.
            let empty = Write(offset: write.offset, bytes: [UInt8](repeating: 0, count: write.bytes.count))
            for bytes in variants {
                for part in [write, torn, empty] {
                    var next = bytes
                    apply(part, to: &next)
                    variants.insert(next)
                }
            }
        }
        return variants
    }
}

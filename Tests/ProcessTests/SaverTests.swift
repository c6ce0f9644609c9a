import Foundation
import TestSupport
import Testing

/// Editors and tools save a file on a disk while this package reads, writes and observes it (contract 1).
@Suite(.waitsOneByOne, .serialized, .enabled(if: SavedFile.isPossible)) struct SaverTests {
    /// A number of saves of each kind; without it, each saver and role have one setting of the file.
    private static let asked = Hazard.count("PREFS_SAVES", default: 0)

    @Test(arguments: Hazard.isLong || asked > 0 ? Saver.chosen : Saver.chosen.filter(\.isQuick))
    func aSaveIsNeverInTheWay(_ saver: Saver) throws {
        let number = Saver.allCases.firstIndex(of: saver) ?? 0
        for (index, role) in SaverRun.Role.allCases.enumerated() {
            var run = SaverRun(saver, role)
            let settings = saver.settings
            for setting in Self.asked > 0 ? settings : [settings[(3 * number + 5 * index) % settings.count]] {
                try run.run(setting, saves: Self.asked > 0 ? Self.asked : 3)
            }
            for violation in run.violations.prefix(20) {
                Issue.record("\(saver.rawValue), \(role.rawValue): \(violation)")
            }
            Hazard.report(run.summary)
        }
    }
}

extension Saver {
    /// Part of every Linux system, and fast.
    fileprivate var isQuick: Bool {
        [.install, .tar, .sed, .sedBackup, .move, .shell, .copy, .exchange20, .sizeFirst30, .inPlace].contains(self)
    }
}

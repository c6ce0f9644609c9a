import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The layers of a store, the first above all others.
final class LayerStack: Sendable {
    let above: [PrefsLayer]
    let below: [PrefsLayer]
    /// The layout of the base, which the files of layers share.
    private let layout: DomainLayout
    /// Whether a layer is on a disk, where it may change.
    let mayChange: Bool
    private let last: Locked<LayersSnapshot>

    /// - Parameter baseFile: the file of the base. A layer on the same file would cover every entry by itself.
    init(above: [PrefsLayer], below: [PrefsLayer], layout: DomainLayout, baseFile: String?) {
        let target = baseFile.flatMap { (try? PathResolution($0, system: .real))?.target }
        func checked(_ layers: [PrefsLayer]) -> [PrefsLayer] {
            target.map { target in layers.map { $0.withoutBase(target) } } ?? layers
        }
        self.above = checked(above)
        self.below = checked(below)
        self.layout = layout
        mayChange = (self.above + self.below).contains { if case .entries = $0.source { false } else { true } }
        last = Locked(LayersSnapshot(above: self.above, below: self.below, layout))
    }

    var files: [LayerFile] {
        (above + below).compactMap { if case .file(let file) = $0.source { file } else { nil } }
    }

    /// The environment and the arguments.
    var texts: [TextLayer] {
        (above + below).compactMap { if case .entries(let entries) = $0.source { entries.texts } else { nil } }
    }

    func forget() { files.forEach { $0.forget() } }

    /// The current layers. Costs an `fstat` for each file.
    func current() -> any RootLayersSnapshot { snapshot() }

    private func snapshot() -> LayersSnapshot {
        let known = last.withLock { $0 }
        if !mayChange || known.isCurrent(above, below) { return known }
        let new = LayersSnapshot(above: above, below: below, layout)
        last.withLock { $0 = new }
        return new
    }
}

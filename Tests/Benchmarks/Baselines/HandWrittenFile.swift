import Foundation

/// Settings in a program without a library: a Codable type, its encoder, and one atomic write.
struct HandWrittenFile {
    struct Settings: Codable {
        var x = 1
        var name = "a name of some length"
        var ratio = 0.75
        var isOn = true
        var words = ["one", "two", "three"]
    }

    let url: URL
    var settings = Settings()

    mutating func write(_ x: Int) throws {
        settings.x = x
        try PropertyListEncoder().encode(settings).write(to: url, options: .atomic)
    }
}

package import Foundation

/// The root that a writer of the kill torture stores with its n-th write: a number, and a payload that proves that the
/// file has the whole write and no part of another one.
package struct TortureWriter: Sendable {
    /// A state that is not the result of a write.
    package struct Damage: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// The most writers that have keys.
    package static let limit = 4

    /// The keys of all writers.
    package static let keys = (0..<limit).flatMap { [TortureWriter($0).numberKey, TortureWriter($0).payloadKey] }

    /// The states of all writers before their first write, as a layer below the base may give them.
    package static var initialValues: [String: Any] {
        (0..<limit).map { TortureWriter($0) }.reduce(into: [:]) { values, writer in
            values[writer.numberKey] = 0
            values[writer.payloadKey] = writer.payload(0)
        }
    }

    /// The entry of a layer above the base. No writer writes it.
    package static let covered = (key: "covered", value: "above")

    /// The key of the number, or of the dictionary.
    package let numberKey: String
    package let payloadKey: String
    private let index: Int

    package init(_ index: Int) {
        self.index = index
        numberKey = "w\(index)"
        payloadKey = "p\(index)"
    }

    /// From 0 to 40 KB, so that the files of consecutive commits differ in size and span pages.
    package func payload(_ number: Int) -> Data {
        Data(String(repeating: "\(index):\(number) ", count: number * 7_919 % (number % 3 == 0 ? 6_000 : 1_000)).utf8)
    }

    /// The number in a root; 0 if this writer has written nothing.
    package func number(in root: [String: Any]) throws(Damage) -> Int {
        guard let stored = root[numberKey] else { return 0 }
        let both = stored as? [String: Any]
        guard let number = (both?["number"] ?? stored) as? Int else {
            throw Damage(reason: "expected a number under \(numberKey)")
        }
        guard (both?["payload"] ?? root[payloadKey]) as? Data == payload(number) else {
            throw Damage(reason: "\(numberKey) is \(number), with the payload of another write")
        }
        return number
    }
}

import PersistentPreferences

extension StoreCheck {
    /// Accesses inside the body of an update.
    static let nesting = [
        StoreCheck("nestedReadSeesNestedWrite", "Inside an update, read returns the state of that update.") { place in
            try place.store.update(root: "A") { _ in
                try place.other.update(root: "A") { $0 = ["a": 1] }
                try place.expect(place.store.read(root: "A"), equals: ["a": 1], "in an update, after an update in it")
                try place.other.update(root: "A") {
                    try place.expect($0, equals: ["a": 1], "at the start of another update in it")
                }
            }
        },
        StoreCheck(
            "nestedWriteJoins",
            "Only the keys that a body changes are written; the others keep what nested updates wrote."
        ) { place in
            try place.store.update(root: "A") { $0 = ["c": 3] }
            try place.store.update(root: "A") { root in
                root?["a"] = 1
                try place.other.update(root: "A") { $0 = ["b": 2] }
            }
            try place.expectRoot("A", equals: ["a": 1, "b": 2], "after an update and an update in it")
        },
        StoreCheck("nestedRootsCommitTogether", "An update in an update may change another root.") { place in
            try place.store.update(root: "A") { root in
                root = ["a": 1]
                try place.other.update(root: "B") { $0 = ["b": 2] }
            }
            try place.expect(place.store.read(root: "A")?["a"] as? Int == 1, "The root of the outer update is missing.")
            try place.expect(place.store.read(root: "B")?["b"] as? Int == 2, "The root of the inner update is missing.")
        },
        StoreCheck(
            "leftAloneKeepsNestedWrites", "An update that changes nothing itself keeps what nested updates wrote."
        ) {
            place in
            try place.store.update(root: "A") { $0 = ["a": 1] }
            try place.store.update(root: "A") { _ in try place.other.update(root: "A") { $0 = nil } }
            try place.expectRoot("A", equals: nil, "after a nested removal")
            try place.store.update(root: "A") { _ in try place.other.update(root: "A") { $0 = ["a": 2] } }
            try place.expectRoot("A", equals: ["a": 2], "after a nested creation")
        },
        StoreCheck("nestedErrorUndoesAll", "An error in a nested access undoes the whole update, also if it is caught.")
        {
            place in
            try place.expectError("an error", of: "an update that catches the error of an update in it") {
                try place.store.update(root: "A") { root in
                    root = ["a": 1]
                    try? place.other.update(root: "B") { _ in throw CheckedPlace.Stop() }
                }
            }
            try place.expectRoot("A", equals: nil, "after that error")
        },
        StoreCheck("outerErrorUndoesAll", "A nested update does not commit; the update around it does.") { place in
            try place.expectError("an error", of: "an update whose body throws after an update in it") {
                try place.store.update(root: "A") { _ in
                    try place.other.update(root: "B") { $0 = ["b": 1] }
                    throw CheckedPlace.Stop()
                }
            }
            try place.expectRoot("B", equals: nil, "after that error")
        },
        StoreCheck("otherStoreIsRejected", "An update of another store in an update throws updateOfAnotherStore.") {
            place in
            let memory = CheckedStore(.memory())
            for (outer, inner) in [(place.store, memory as any PrefsBackend), (memory, place.store)] {
                let error = try place.expectError("updateOfAnotherStore", of: "an update of another store in an update")
                {
                    try outer.update(root: "A") { _ in try inner.update(root: "A") { $0 = ["a": 1] } }
                }
                guard case PrefsError.updateOfAnotherStore = error else {
                    throw CheckedPlace.Finding(description: "Expected updateOfAnotherStore, found \(error).")
                }
                try place.expect(inner.read(root: "A"), equals: nil, "in the other store")
            }
        },
    ]
}

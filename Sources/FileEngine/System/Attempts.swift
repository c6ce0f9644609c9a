/// How often something is tried again because another program or thread has changed in between what it started from.
///
/// The limit is for what changes without an end, by a mistake of somebody: nobody is that unlucky.
package enum Attempts {
    package static let all = 0..<100
}

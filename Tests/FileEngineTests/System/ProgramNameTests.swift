#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import PrefsFileEngine

    /// The name of the program, which is that of its default store.
    @Suite struct ProgramNameTests {
        @Test(arguments: [
            "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1",
            "/lib/x86_64-linux-gnu/ld-2.31.so", "/lib64/ld64.so.2", "ld-linux.so.2", "/libexec/ld.so.1",
            "/opt/app/ld-linux-x86-64.so.2",
        ])
        func aLoaderIsRecognized(_ path: String) { #expect(ConfigurationFolder.isLoader(path)) }

        @Test(arguments: [
            "/usr/bin/ld", "/usr/bin/ldd", "/usr/bin/ldap.so", "/usr/bin/ld-tool", "/usr/bin/editor", "", "/",
        ])
        func anotherProgramIsNot(_ path: String) { #expect(!ConfigurationFolder.isLoader(path)) }

        @Test func thePathThatIsNotTheLoadersCounts() throws {
            let loader = "/lib64/ld-linux-x86-64.so.2"
            #expect(ConfigurationFolder.programName(startedAs: [loader, "/none/editor"]) == "editor")
            #expect(ConfigurationFolder.programName(startedAs: ["./none/one", "two"]) == "one")
            #expect(ConfigurationFolder.programName(startedAs: ["editor"]) == "editor")
            #expect(ConfigurationFolder.programName(startedAs: ["", "/", loader]) == nil)
            #expect(ConfigurationFolder.programName(startedAs: []) == nil)
        }

        /// As it is when the program is started by its own path.
        @Test func aLinkHasTheNameOfItsTarget() throws {
            let folder = try TemporaryFolder()
            try Data().write(to: folder.file("editor-2.0"))
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("editor").path, withDestinationPath: "editor-2.0")
            #expect(ConfigurationFolder.programName(startedAs: [folder.file("editor").path]) == "editor-2.0")
        }
    }
#endif

import Foundation
import Testing
import VivariumTestSupport

/// Where the list is without `--path`.
@Suite struct OwnFolderTests {
  private let folder = TemporaryDirectory()
  private var data: URL { folder.file("data") }
  private var own: URL { data.appending(path: "vivarium-tasks") }

  private func program() throws -> ScriptProcess {
    try FileManager.default.createDirectory(at: folder.file("temporary"), withIntermediateDirectories: true)
    return try ScriptProcess([], environment: ["XDG_DATA_HOME": data.path, "TMPDIR": folder.file("temporary").path])
  }

  private func permissions(_ url: URL) throws -> Int? {
    try (FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test func theListIsInAFolderThatOnlyItsUserMayEnter() throws {
    let (one, two) = (try program(), try program())
    one.say("add Home Milk", "wait 1", "quit")
    #expect(try one.end() == 0)
    two.say("wait 1", "show")
    #expect(two.lines(3) == ["1 of 1 to do", "Home (1 of 1)", "  1. [ ] Milk"])
    two.say("quit")
    #expect(try two.end() == 0)
    #expect(FileManager.default.fileExists(atPath: own.appending(path: "tasks.lmdb").path))
    #expect(try permissions(own) == 0o700)
    #expect(try permissions(data) == 0o700)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("temporary").path) == [])
  }

  @Test func aLinkInPlaceOfTheFolderIsNotFollowed() throws {
    let planted = folder.file("planted")
    for url in [data, planted] { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    try FileManager.default.createSymbolicLink(at: own, withDestinationURL: planted)
    #expect(try program().end() == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: planted.path) == [])
  }

  @Test func aFolderThatOthersMayWriteIsRefused() throws {
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: NSNumber(value: Int16(0o777))], ofItemAtPath: own.path)
    #expect(try program().end() == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: own.path) == [])
  }
}

import Foundation
import Testing
import VivariumTestSupport

@Suite struct ExitingChildTests {
  private let directory = TemporaryDirectory("child")

  @Test func aChildThatEndsEarlyEndsTheWaitAndSaysWhatItWrote() async throws {
    let path = directory.url.path
    let child = ExitingChild(output: path + "/output")
    let work = child.whenMade(path + "/made") { Issue.record("The file is not there.") }
    await #expect(processExitsWith: .failure) { [path = path as String] in
      ExitingChild.redirectOutput(to: path + "/output")
      FileHandle.standardError.write(Data("no room for it".utf8))
      exit(3)
    }
    child.end()
    let error = await #expect(throws: ExitingChild.EndedEarly.self) { try await work.value }
    #expect(error?.description.contains("'made'") == true && error?.description.contains("no room for it") == true)
  }

  @Test func whatTheChildMadeBeforeItsEndIsSeen() async throws {
    let path = directory.url.path
    let child = ExitingChild(output: path + "/output")
    try Data().write(to: URL(fileURLWithPath: path + "/made"))
    child.end()
    #expect(try await child.whenMade(path + "/made") { 7 }.value == 7)
  }
}

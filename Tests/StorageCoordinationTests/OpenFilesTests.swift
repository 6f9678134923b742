import Foundation
import StorageCoordination
import StorageInterface
import Testing

struct OpenFilesTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private final class Engine: Sendable {}

  @Test func everyPathOfAFileGivesTheSameEngine() throws {
    let files = OpenFiles<Engine>()
    let open: () throws(StorageError) -> Engine = {
      scratch.touch("a")
      return Engine()
    }
    let first = try files.engine(at: scratch.file("a"), open: open)
    try FileManager.default.createSymbolicLink(atPath: scratch.file("soft"), withDestinationPath: scratch.file("a"))
    try FileManager.default.linkItem(atPath: scratch.file("a"), toPath: scratch.file("hard"))
    #expect(try files.engine(at: scratch.file("a"), open: open) === first)
    #expect(try files.engine(at: scratch.file("soft"), open: open) === first)
    #expect(try files.engine(at: scratch.file("hard"), open: open) === first)
    #expect(try files.engine(at: scratch.path + "/./a", open: open) === first)
  }

  @Test func differentFilesGiveDifferentEngines() throws {
    let files = OpenFiles<Engine>()
    let engines = try ["a", "b"].map { name in
      scratch.touch(name)
      return try files.engine(at: scratch.file(name)) { Engine() }
    }
    #expect(engines[0] !== engines[1])
  }

  @Test func anEngineEndsWithItsLastReference() throws {
    scratch.touch("a")
    let files = OpenFiles<Engine>()
    var opened = 0
    for _ in 0..<2 { _ = try files.engine(at: scratch.file("a")) { opened += 1; return Engine() } }
    #expect(opened == 2)
  }

  @Test func aForgottenEngineIsOpenedAnew() throws {
    scratch.touch("a")
    let files = OpenFiles<Engine>()
    let first = try files.engine(at: scratch.file("a")) { Engine() }
    files.forget(first)
    let second = try files.engine(at: scratch.file("a")) { Engine() }
    #expect(first !== second)
    #expect(try files.engine(at: scratch.file("a")) { Engine() } === second)
  }

  @Test func aFailedOpenLeavesNothing() throws {
    scratch.touch("a")
    let files = OpenFiles<Engine>()
    let error = #expect(throws: StorageError.self) {
      _ = try files.engine(at: scratch.file("a")) { () throws(StorageError) in throw StorageError(.corrupt, .engine, "no") }
    }
    #expect(error?.code == .corrupt)
    _ = try files.engine(at: scratch.file("a")) { Engine() }
  }
}

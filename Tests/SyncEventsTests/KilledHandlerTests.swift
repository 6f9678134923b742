import Foundation
import SyncProving
import Testing
import VivariumTestSupport

/// The case that the design was asked about: an insertion handler, latency, and a server that crashes half-way. Its process dies here, at
/// each point between the handler's work and the moment at which it knows that its work is done; the next process goes on.
@Suite(.serialized, .timeLimit(.minutes(30))) struct KilledHandlerTests {
  private let place = TemporaryDirectory("events")

  @Test(arguments: ["begun", "written", "before-commit", "after-commit"])
  func eachQuestionHasOneAnswerThoughTheServerDies(at point: String) throws {
    #expect(try child("register").status == 0)
    #expect(try child("ask", deviceFile, "3").status == 0)
    // What each process begins, and how many questions have their answer when it has died.
    let lives = point == "after-commit" ? [([0], 1), ([1, 2], 3)] : [([0], 0), ([0, 1], 1)]
    for (life, (begun, answered)) in lives.enumerated() {
      let died = try child("answer", "\(life)", "\(point):\(life + 1)")
      #expect(died.status == -1 && died.begun == begun)
      #expect(try standing() == questions(3, answered: answered))
    }
    let last = try child("answer", "2")
    #expect(last.status == 0 && last.begun == (point == "after-commit" ? [] : [1, 2]))
    #expect(try standing() == questions(3, answered: 3))
  }

  /// They are found by a query and not in the log, and are answered in one transaction.
  @Test(arguments: ["begun", "written", "before-commit", "after-commit"])
  func soHasEachOfThoseFromBeforeTheHandlerWasKnown(at point: String) throws {
    #expect(try child("ask", deviceFile, "3").status == 0)
    #expect(try child("answer", "0", "\(point):1").status == -1)
    let isDone = point == "after-commit"
    #expect(try standing() == questions(3, answered: isDone ? 3 : 0))
    let last = try child("answer", "1")
    #expect(last.status == 0 && last.begun.sorted() == (isDone ? [] : [0, 1, 2]))
    #expect(try standing() == questions(3, answered: 3))
  }

  @Test func aQuestionIsAnsweredOnceThoughTheServerIsKilledWhileItWaitsForAnotherSystem() throws {
    #expect(try child("register").status == 0)
    #expect(try child("ask", deviceFile, "1").status == 0)
    let waiting = try ChildProgram("event-child", ["answer", folder, "0", "hang"])
    #expect(waiting.line() == "begun 0")
    waiting.killNow()
    #expect(try standing() == questions(1, answered: 0))
    let next = try child("answer", "1")
    #expect(next.status == 0 && next.begun == [0])
    #expect(try standing() == questions(1, answered: 1))
    // Who comes later has nothing to do.
    #expect(try child("answer", "2").begun.isEmpty)
    #expect(try standing() == questions(1, answered: 1))
  }

  // MARK: processes

  private var folder: String { place.file("server").path }
  private var deviceFile: String { place.file("device").path }

  /// Runs a process to its end; the status is -1 if it was killed.
  private func child(_ command: String, _ more: String...) throws -> Ended {
    let (output, status) = try ChildProgram.run("event-child", [command, folder] + more)
    return Ended(lines: output.split(separator: "\n").map(String.init), status: status)
  }

  private struct Ended {
    let lines: [String]
    let status: Int32

    /// The questions that its handler began.
    var begun: [Int] { lines.filter { $0.hasPrefix("begun ") }.compactMap { Int($0.dropFirst(6)) } }
  }

  /// What a device sees of each question.
  private func standing() throws -> [String] {
    let read = try child("read", deviceFile)
    #expect(read.status == 0)
    return read.lines
  }

  /// The first of them have one answer, and one reply that was written with it; the others have neither.
  private func questions(_ count: Int, answered: Int) -> [String] {
    (0..<count).map { $0 < answered ? "\($0) success 1 1" : "\($0) notProcessed 0 0" }
  }
}

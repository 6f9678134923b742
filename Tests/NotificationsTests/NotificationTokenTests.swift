import Logging
import Synchronization
import Testing
import VivariumTestSupport

@testable import Notifications

@Suite(.serialized) struct NotificationTokenTests {
  @Test func stoppingRunsTheEndOnceAndSaysWhetherItWasActive() {
    let ends = Atomic(0)
    let token = NotificationToken(fileID: #fileID, line: #line) { ends.add(1, ordering: .relaxed) }
    #expect(token.isActive)
    #expect(token.stop())
    #expect(!token.stop())
    token.invalidate()
    #expect(!token.isActive)
    #expect(ends.load(ordering: .relaxed) == 1)
  }

  @Test func aDroppedTokenEndsTheObservationAndWarnsOnceWithThePlace() {
    let log = LogCapture()
    StoreLog.use(Logger(label: "test") { _ in log })
    defer { StoreLog.use(Logger(label: "vivarium")) }
    let ends = Atomic(0)
    do {
      _ = NotificationToken(fileID: "App/Main.swift", line: 18) { ends.add(1, ordering: .relaxed) }
      let stopped = NotificationToken(fileID: "App/Main.swift", line: 19) {}
      stopped.stop()
    }
    #expect(ends.load(ordering: .relaxed) == 1)
    #expect(log.messages.count == 1)
    #expect(log.messages.first?.contains("without unregistering a notification (observed at App/Main.swift:18)") == true)
  }

  @Test func aSetKeepsTokens() {
    var tokens: Set<NotificationToken> = []
    let token = NotificationToken(fileID: #fileID, line: #line) {}
    token.store(in: &tokens)
    #expect(tokens.contains(token))
    token.stop()
  }
}

private final class LogCapture: LogHandler, Sendable {
  private let captured = Mutex<[String]>([])
  var messages: [String] { captured.withLock { $0 } }

  func log(event: LogEvent) { captured.withLock { $0.append("\(event.message)") } }

  subscript(metadataKey _: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }
}

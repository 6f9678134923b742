import ArgumentParser
import Foundation
import SyncProtocol
import SyncRules
import SyncWebSocket

/// Puts the rules of the protocol to a server, whoever wrote it.
@main struct SyncConformance: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-conformance",
    abstract: "Puts the rules of Docs/SyncProtocol.md to a server: a line for each, ok or failed. Ends with 1 where one failed.",
    discussion: """
      The user must be allowed to make stores of his own ('/~/…'); each rule makes one. Nothing else of the server is touched. \
      A rule that has to wait for what never comes ends after the time of '--patience'. A rule that needs something that is not given is \
      not tried, and its line says what it is.
      """)

  @Argument(help: "The server: ws://127.0.0.1:9480.") var address: String
  @Option(help: "Who the user is there.") var token: String
  @Option(help: "Who another user is.") var otherToken: String?
  @Option(
    help: """
      A command for the shell that has the server forget the entries which the log of a store has so far, and nothing else. It gets the \
      store's path as $1, with '~' for the user.
      """) var forget: String?
  @Option(help: "Only rules whose name has this in it.") var rule = ""
  @Option(help: "Seconds for an answer.") var patience = 10
  @Flag(help: "Also where others could read along.") var plainText = false

  func run() async throws {
    #if Sync
    let connector = try WebSocketConnector(address, allowsPlainText: plainText)
    let name = "conformance-\(UInt64.random(in: 0..<1 << 40))"
    var (passed, failed, skipped) = (0, 0, 0)
    for (number, rule) in Rule.all.enumerated() where self.rule.isEmpty || rule.name.contains(self.rule) {
      let exchange = Exchange(
        connector: connector, token: token, path: "/~/\(name)/\(number)", patience: .seconds(max(1, patience)), otherToken: otherToken,
        forget: forgetting)
      guard exchange.has(rule.need) else {
        skipped += 1
        say("not tried  \(rule): it needs \(rule.need?.rawValue ?? "nothing")")
        continue
      }
      do {
        try await rule.check(exchange)
        passed += 1
        say("ok      \(rule)")
      } catch {
        failed += 1
        say("failed  \(rule)\n        \(error)")
      }
    }
    say("\(passed) ok, \(failed) failed, \(skipped) not tried")
    if failed > 0 || passed == 0 { throw ExitCode.failure }
    #else
    throw ValidationError("This build speaks no WebSocket: build it with the trait 'Sync'.")
    #endif
  }

  private var forgetting: (@Sendable (_ path: String) async throws -> Void)? {
    guard let command = forget else { return nil }
    return { path in try SyncConformance.run(command, path) }
  }

  /// A command of the shell did not do what it was to do.
  private struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private static func run(_ command: String, _ path: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command, "sh", path]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(description: "'\(command)' has failed.") }
  }

  /// At once, for who waits.
  private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

#if Sync
import Foundation
import Logging
import StoreValues

/// Lines of `name=value` on the standard error, one for each thing that happened: `time=… level=info message="…" user=ann`.
struct ServerLog: LogHandler {
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  private let label: String

  static func logger(_ level: Logger.Level) -> Logger {
    Logger(label: "vivarium") { ServerLog(logLevel: level, label: $0) }
  }

  private init(logLevel: Logger.Level, label: String) { (self.logLevel, self.label) = (logLevel, label) }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    var line = "time=\(Date().formatted(.iso8601)) level=\(event.level.rawValue) message=\(ServerLog.quoted("\(event.message)"))"
    for (name, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(name)=\(ServerLog.quoted("\(value)"))" }
    // A full disk, or a reader that has gone, loses the line and not the server.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }

  /// What others wrote begins no line of its own, and a terminal that shows the log obeys none of it.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "=") && byte != UInt8(ascii: "\\")
    }
    if isPlain, !text.isEmpty { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case _ where scalar.isObeyedByTerminals: quoted += "\\u{\(String(scalar.value, radix: 16))}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
#endif

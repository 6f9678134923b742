import Foundation

/// The server's program, on a folder or a database, until it is ended or killed.
public final class ServerProgram {
  private let child: ChildProgram
  /// Where it listens, on loopback.
  public let port: Int
  /// The number of its process.
  public var processID: Int32 { child.processID }

  /// Starts it, and waits until it listens.
  ///
  /// - Parameters:
  ///   - port: 0 has the system choose.
  ///   - more: further arguments of `serve`.
  public convenience init(folder: String, port: Int = 0, _ more: [String] = []) throws {
    try self.init(at: ["--folder", folder], port: port, more)
  }

  /// As `init(folder:)`, where what it keeps is where the arguments say: "--folder" or "--postgres", and which.
  public init(at place: [String], port: Int = 0, _ more: [String] = []) throws {
    child = try ChildProgram("vivarium-server", ["serve", "--port", "\(port)"] + place + more)
    while true {
      guard let line = child.line() else { throw Silent() }
      guard let address = line.range(of: "ws://", options: .backwards) else { continue }
      let number = line[address.upperBound...].split(separator: ":").last?.prefix { $0.isNumber } ?? ""
      guard let port = Int(number) else { continue }
      self.port = port
      child.ignoreOutput()
      return
    }
  }

  private struct Silent: Error, CustomStringConvertible {
    var description: String { "The server ended before it said where it listens." }
  }

  /// A user's token.
  public static func token(folder: String, user: String) throws -> String { try token(at: ["--folder", folder], user: user) }

  /// As `token(folder:)`, where the users are where the arguments say.
  public static func token(at place: [String], user: String) throws -> String {
    let (output, status) = try ChildProgram.run("vivarium-server", ["user", "add"] + place + [user])
    struct Refused: Error {}
    guard status == 0, let token = output.split(separator: "\n").last else { throw Refused() }
    return String(token)
  }

  /// As a power cut of it alone.
  public func killNow() { child.killNow() }

  /// Asks it to end, and gives its status.
  @discardableResult public func end() -> Int32 { child.terminate() }
}

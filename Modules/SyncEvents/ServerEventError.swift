import SyncServer

/// Why a handler cannot be registered.
public struct ServerEventError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let message: String
  /// What helps.
  public let remedy: String
  public var description: String { "\(message) \(remedy)" }

  static func pattern(_ text: String) -> ServerEventError {
    ServerEventError(
      message: "'\(text)' is no pattern of paths.", remedy: "Write '/shared/shop', '/*/orders' for one part, or '/shared/*' for all below.")
  }

  static func name(_ text: String) -> ServerEventError {
    ServerEventError(message: "'\(text)' is no name of a handler.", remedy: "Take one to 64 of A–Z, a–z, 0–9, '.', '_' and '-'.")
  }

  static func models(_ why: String) -> ServerEventError {
    ServerEventError(message: "The models make no store: \(why)", remedy: "Give 'ServerEvents' every type that one of them links to.")
  }

  static func taken(_ name: String) -> ServerEventError {
    ServerEventError(
      message: "There is a handler '\(name)' already.", remedy: "Give each handler a name of its own: it stands for what was dealt with.")
  }
}

/// The path of a store on a server: "/shared/shop", "/ann/tasks".
///
/// It has one to eight parts, each of 1 to 64 of the characters `A–Z a–z 0–9 . _ -`, and none is "." or "..". So it is a valid file name,
/// part of a URL and key everywhere, and can be written in one way only.
public struct StorePath: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The path, with a slash before each part.
  public let text: String

  /// Returns nil for a text that is not a path.
  public init?(_ text: String) {
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard (1...8).contains(parts.count), parts.allSatisfy(StorePath.isPart) else { return nil }
    self.text = text
  }

  /// Whether a text can be a part of a path; a user's name must be one.
  public static func isPart(_ text: String) -> Bool { isPart(text[...].utf8) }

  private static func isPart(_ part: Substring.UTF8View) -> Bool {
    guard (1...64).contains(part.count), part.contains(where: { $0 != UInt8(ascii: ".") }) else { return false }
    return part.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  /// Whether it is one of the server's internal stores: no user can have the name of their first part.
  public var isOfServer: Bool { text.utf8.starts(with: "/__server/".utf8) }

  /// Whether it is a user's management store, which nobody else can be given.
  var isOfManagement: Bool { text.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("__management".utf8) } }

  /// By bytes.
  public static func < (a: StorePath, b: StorePath) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
  public var description: String { text }
}

#if DEBUG && os(Linux) && canImport(Runtime)
import Runtime
#endif

extension StoreError {
  /// File and line of the edit that was refused: of a setter, or of a call of a collection, which cannot say where they are called. Known
  /// in debug builds on Linux; nil elsewhere, and in other errors, which are thrown where they happen.
  ///
  /// Reads the program's symbols: some milliseconds in a small program, seconds in a very large one. For logs and tests, not for
  /// what a person waits for.
  public var editedAt: String? { trace?.place }

  /// The same with the calls that led here.
  func traced() -> StoreError {
    if trace != nil { return self }
    var traced = self
    traced.trace = CallTrace()
    return traced
  }
}

/// Where in the program a call stands that had no way to say so. The symbols are looked up when somebody asks.
final class CallTrace: Sendable {
  #if DEBUG && os(Linux) && canImport(Runtime)
  private let frames: Backtrace

  /// nil where there is nothing to know.
  init?() {
    guard let frames = try? Backtrace.capture(limit: 40) else { return nil }
    self.frames = frames
  }

  /// The innermost line that is not this library's.
  var place: String? {
    for frame in frames.symbolicated()?.frames ?? [] {
      guard let symbol = frame.symbol, let place = symbol.sourceLocation, !CallTrace.isOurs(symbol.rawName), place.line > 0,
        place.path.hasSuffix(".swift"), !place.path.contains("@__swiftmacro")
      else { continue }
      return "\(place.path.split(separator: "/").suffix(2).joined(separator: "/")):\(place.line)"
    }
    return nil
  }

  /// By the module in a mangled name, that of an extension too; the standard library's generic code is nobody's.
  private static func isOurs(_ name: String) -> Bool {
    name.hasPrefix("$s8Vivarium") || name.contains("8VivariumE") || name.hasPrefix("$ss") || name.hasPrefix("$sS")
  }
  #else
  init?() { return nil }
  var place: String? { nil }
  #endif
}

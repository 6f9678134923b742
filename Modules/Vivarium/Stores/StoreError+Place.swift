#if DEBUG && os(Linux) && canImport(Runtime)
import Runtime
#endif

extension StoreError {
  /// The detail "at": file and line of the edit that was refused, where the program has symbols for that. Debug builds on Linux look;
  /// others say which property of which object it was, and in which write.
  func located() -> StoreError {
    #if DEBUG && os(Linux) && canImport(Runtime)
    guard details["at"] == nil, let place = CallPlace.outside() else { return self }
    var located = self
    located.details["at"] = place
    return located
    #else
    return self
    #endif
  }
}

#if DEBUG && os(Linux) && canImport(Runtime)
/// Where in the program a call stands that had no way to say so.
private enum CallPlace {
  /// The innermost frame that is not this library's. Looks symbols up: only for what ends a write.
  static func outside() -> String? {
    guard let frames = try? Backtrace.capture(limit: 40).symbolicated()?.frames else { return nil }
    for frame in frames {
      guard let symbol = frame.symbol, let place = symbol.sourceLocation, !isOurs(symbol.rawName), place.line > 0,
        place.path.hasSuffix(".swift"), !place.path.contains("@__swiftmacro")
      else { continue }
      return "\(place.path.split(separator: "/").suffix(2).joined(separator: "/")):\(place.line)"
    }
    return nil
  }

  /// By the module that a mangled name begins with; the standard library's generic code is nobody's.
  private static func isOurs(_ name: String) -> Bool {
    name.hasPrefix("$s8Vivarium") || name.hasPrefix("$ss") || name.hasPrefix("$sS")
  }
}
#endif

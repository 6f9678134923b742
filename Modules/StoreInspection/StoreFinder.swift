#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// Opens a store of unknown kind.
public enum StoreFinder {
  /// Opens the store at `path`, by default read-only, with the first of `backends` that recognises its own kind there. All of them
  /// must be for that path. Throws status `.cannotOpen`.
  public static func open(
    _ path: String, _ backends: [any StorageBackend], isReadOnly: Bool = true
  ) throws(InspectionError) -> any StorageEngine {
    let shown = DisplayText.escaped(path)
    guard let backend = backends.first(where: { $0.isPresent() }) else {
      if let obstacle = obstacle(path) {
        throw InspectionError(.cannotOpen, "\(shown) cannot be opened: \(obstacle).")
      }
      throw InspectionError(
        .cannotOpen, "\(shown) is no Vivarium store (\(backends.map(\.kind).joined(separator: ", "))).")
    }
    do throws(StorageError) {
      return try backend.open(OpenOptions(isReadOnly: isReadOnly, createsIfMissing: false))
    } catch {
      var failure = InspectionError(error)
      // Whatever the cause, the store could not be opened.
      failure.status = error.code == .io ? .inputOutput : .cannotOpen
      if !failure.message.contains(shown) { failure.message = "\(shown): \(failure.message)" }
      throw failure
    }
  }

  /// The reason why no file can be read at the path; nil if one can.
  private static func obstacle(_ path: String) -> String? {
    guard access(path, R_OK) == 0 else { return String(cString: strerror(errno)) }
    return nil
  }
}

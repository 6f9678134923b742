import StorageInterface
import StoreValues
import Synchronization

/// A place in memory with a name: backends of one name open one engine. The data stays while a backend value or
/// an engine of that name lives, so closing and opening again works as with a file.
public struct ReferenceBackend: StorageBackend {
  public let kind = "reference"
  public var isFile: Bool { false }
  public let location: String
  /// Makes the layout of a call's batches, from the number of the call.
  private let layout: @Sendable (UInt64) -> any BatchLayout
  private let place: ReferencePlace

  /// A store of its own when the name is nil.
  public init(name: String?, layout: @escaping @Sendable (UInt64) -> any BatchLayout) {
    let name = name ?? "reference-\(ReferencePlace.nextNumber())"
    location = name
    self.layout = layout
    place = ReferencePlace.named(name)
  }

  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    try place.open(options, layout)
  }

  public func isPresent() -> Bool { place.medium.state.withLock { $0 != nil } }

  public func remove() throws(StorageError) { try place.remove() }
}

/// Where the engines of one name meet.
final class ReferencePlace: Sendable {
  private struct Weak<T: AnyObject & Sendable>: Sendable { weak var object: T? }
  private static let places = Mutex<[String: Weak<ReferencePlace>]>([:])
  private static let numbers = Atomic(0)

  let medium: ReferenceMedium
  let lock = ReferenceLock()
  private let engine = Mutex(Weak<ReferenceEngine>())
  /// Reads alone beside one that writes.
  private let reader = Mutex(Weak<ReferenceEngine>())

  private init(_ name: String) { medium = ReferenceMedium(name: name) }

  static func nextNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

  static func named(_ name: String) -> ReferencePlace {
    places.withLock { places in
      if let place = places[name]?.object { return place }
      let place = ReferencePlace(name)
      places = places.filter { $0.value.object != nil }
      places[name] = Weak(object: place)
      return place
    }
  }

  func open(
    _ options: OpenOptions, _ layout: @escaping @Sendable (UInt64) -> any BatchLayout
  ) throws(StorageError) -> ReferenceEngine {
    let result = engine.withLock { weak -> Result<ReferenceEngine, StorageError> in
      if let engine = weak.object, !engine.isClosed {
        if options.isReadOnly == engine.options.isReadOnly { return .success(engine) }
        if options.isReadOnly { return .success(reading(options, layout)) }
        return .failure(StorageError(.alreadyOpen, .engine, "The store '\(medium.name)' is open for reading alone."))
      }
      let isPresent = medium.state.withLock { $0 != nil }
      if !isPresent {
        guard options.createsIfMissing, !options.isReadOnly else {
          return .failure(StorageError(.fileNotFound, .engine, "There is no store named '\(medium.name)'."))
        }
        medium.state.withLock { $0 = ReferenceState() }
      }
      let engine = ReferenceEngine(self, options, layout)
      weak.object = engine
      return .success(engine)
    }
    return try result.get()
  }

  private func reading(
    _ options: OpenOptions, _ layout: @escaping @Sendable (UInt64) -> any BatchLayout
  ) -> ReferenceEngine {
    reader.withLock { weak in
      if let engine = weak.object, !engine.isClosed { return engine }
      let engine = ReferenceEngine(self, options, layout)
      weak.object = engine
      return engine
    }
  }

  func remove() throws(StorageError) {
    let isRead = reader.withLock { weak in weak.object.map { !$0.isClosed } ?? false }
    let isOpen = engine.withLock { weak in
      if isRead { return true }
      if let engine = weak.object, !engine.isClosed { return true }
      medium.state.withLock { $0 = nil }
      return false
    }
    if isOpen { throw StorageError(.alreadyOpen, .engine, "The store '\(medium.name)' is open.") }
  }
}

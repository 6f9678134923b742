import StorageInterface
import StoreValues

/// An engine in front of another one. A wrapper names its base and writes anew only what it does otherwise.
public protocol EngineInFront: StorageEngine {
  var base: any StorageEngine { get }
}

extension EngineInFront {
  public var kind: String { base.kind }
  public func latestVersion() throws(StorageError) -> Version { try base.latestVersion() }
  public func beginRead() throws(StorageError) -> any ReadTransaction { try base.beginRead() }
  public func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction { try base.beginWrite(deadline) }
  public func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    try base.addCommitListener(unless: isTold, body)
  }
  public var powers: EnginePowers { base.powers }
  public func statistics() throws(StorageError) -> StorageStatistics { try base.statistics() }
  public func close() { base.close() }
}

/// One that does what the other does: a start for engines that fail, count, delay or err on purpose. Its closures
/// decide what transactions look like.
public final class ForwardingEngine: EngineInFront {
  public let base: any StorageEngine
  private let wrapRead: @Sendable (any ReadTransaction) -> any ReadTransaction
  private let wrapWrite: @Sendable (any WriteTransaction) -> any WriteTransaction

  public init(
    _ base: any StorageEngine,
    read: @escaping @Sendable (any ReadTransaction) -> any ReadTransaction = { $0 },
    write: @escaping @Sendable (any WriteTransaction) -> any WriteTransaction = { $0 }
  ) {
    self.base = base
    wrapRead = read
    wrapWrite = write
  }

  public func beginRead() throws(StorageError) -> any ReadTransaction { wrapRead(try base.beginRead()) }
  public func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    wrapWrite(try base.beginWrite(deadline))
  }
}

/// A backend whose engines are another backend's behind `wrap`. Each open gives a new wrapper.
public struct ForwardingBackend: StorageBackend {
  private let base: any StorageBackend
  private let wrap: @Sendable (any StorageEngine) -> any StorageEngine

  public init(_ base: any StorageBackend, _ wrap: @escaping @Sendable (any StorageEngine) -> any StorageEngine) {
    self.base = base
    self.wrap = wrap
  }

  public var kind: String { base.kind }
  public var location: String { base.location }
  public var isFile: Bool { base.isFile }
  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine { wrap(try base.open(options)) }
  public func isPresent() -> Bool { base.isPresent() }
  public func remove() throws(StorageError) { try base.remove() }
}

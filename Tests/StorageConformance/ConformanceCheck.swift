import Foundation
import StorageInterface

/// One rule of the storage interface, as a test that any backend can be put to.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
  /// What the rule is about: "values", "lists".
  public let group: String
  /// The rule as a sentence: `rollbackLeavesNothing`.
  public let name: String
  /// What a backend needs for the rule to mean anything.
  public let needs: Set<ConformanceNeed>
  private let body: @Sendable (ConformanceSubject) throws -> Void

  public var description: String { "\(group): \(name)" }

  init(
    _ name: String, in group: String = "", needs: Set<ConformanceNeed> = [],
    _ body: @escaping @Sendable (ConformanceSubject) throws -> Void
  ) {
    self.group = group
    self.name = name
    self.needs = needs
    self.body = body
  }

  init(_ check: ConformanceCheck, in group: String) {
    self.init(check.name, in: group, needs: check.needs, check.body)
  }

  /// Puts a backend to the rule, on a thread of its own as rules wait for each other's threads. Throws a
  /// `ConformanceFailure`, or what the engine threw. A rule whose needs the subject does not have passes.
  public func run(_ subject: ConformanceSubject) async throws {
    guard needs.isSubset(of: subject.offers) else { return }
    let body = body
    await ConformanceGate.shared.enter()
    let outcome = await withCheckedContinuation { (done: CheckedContinuation<Result<Void, any Error>, Never>) in
      Thread.detachNewThread { done.resume(returning: Result { try body(subject) }) }
    }
    await ConformanceGate.shared.leave()
    try outcome.get()
  }

  /// `makeBackend` gives a new, empty place at each call.
  public func run(_ makeBackend: @escaping @Sendable () throws -> any StorageBackend) async throws {
    try await run(ConformanceSubject(makeBackend))
  }
}

/// Lets in as many rules at once as there is work for. A test that waits for its rule blocks nobody, so without this
/// hundreds would run at once, each with its threads and files.
private actor ConformanceGate {
  static let shared = ConformanceGate()

  private var free = max(2, ProcessInfo.processInfo.activeProcessorCount)
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}

/// What some rules need of a backend.
public enum ConformanceNeed: Sendable, Hashable {
  /// Data that outlives the engine.
  case persistence
  /// `location` is the path of one file.
  case file
  /// `location` is the path of one file, and `ConformanceSubject.makeNewer` is given.
  case newerFile
}

/// A backend to be tested, and what the suite cannot know of it.
public struct ConformanceSubject: Sendable {
  /// Gives a backend for a new, empty place at each call.
  public let makeBackend: @Sendable () throws -> any StorageBackend
  /// Gives a backend for a path, for rules about files; nil when the backend has none.
  public let openFile: (@Sendable (String) -> any StorageBackend)?
  /// Makes an existing, closed file one of a format to come; nil when the backend has no files.
  public let makeNewer: (@Sendable (any StorageBackend) throws -> Void)?
  /// Whether data outlives the engine.
  public let persists: Bool

  /// A backend to be checked. Without the closures, the rules about files are left out.
  public init(
    _ makeBackend: @escaping @Sendable () throws -> any StorageBackend, persists: Bool = false,
    openFile: (@Sendable (String) -> any StorageBackend)? = nil,
    makeNewer: (@Sendable (any StorageBackend) throws -> Void)? = nil
  ) {
    self.makeBackend = makeBackend
    self.openFile = openFile
    self.makeNewer = makeNewer
    self.persists = persists
  }

  var offers: Set<ConformanceNeed> {
    var offers: Set<ConformanceNeed> = []
    if persists { offers.insert(.persistence) }
    if openFile != nil { offers.insert(.file) }
    if openFile != nil, makeNewer != nil { offers.insert(.newerFile) }
    return offers
  }
}

/// The rules of the storage interface.
public enum StorageConformance {
  /// Every rule, in groups.
  public static let allChecks: [ConformanceCheck] = groups.flatMap { group, checks in
    checks.map { ConformanceCheck($0, in: group) }
  }

  private static let groups: [(String, [ConformanceCheck])] = [
    ("values", valueChecks), ("points", pointChecks), ("scans", scanChecks), ("hints", hintChecks),
    ("indexes", indexChecks), ("ranges", rangeChecks), ("uniqueness", uniquenessChecks), ("keys", keyChecks), ("adoption", adoptionChecks),
    ("lists", listChecks), ("members", memberChecks), ("mixed", mixedChecks), ("backlinks", backlinkChecks), ("savepoints", savepointChecks),
    ("chunk ends", chunkEndChecks),
    ("isolation", isolationChecks), ("writer", writerChecks), ("history", historyChecks),
    ("listeners", listenerChecks), ("catalog", catalogChecks), ("lifetimes", lifetimeChecks),
    ("opening", openingChecks), ("files", fileChecks), ("powers", powerChecks), ("sides", sideChecks),
    ("copies", copyChecks),
  ]
}

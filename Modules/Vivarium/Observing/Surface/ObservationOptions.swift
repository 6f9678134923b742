import Notifications
import StoreValues

/// Which changes an observer is notified of, and how often. One type for everything that can be observed.
///
/// ```swift
/// let options = ObservationOptions(properties: ["name", "dogs.name"], throttle: .milliseconds(250), includingOldValues: true)
/// token = people.observe(options: options) { change in show(change) }
/// ```
///
/// An option that does not apply is ignored: a list of numbers has no links to follow, and a sum always depends on its one
/// property.
public struct ObservationOptions: Sendable {
  /// The properties whose modification counts: names joined by dots over links, lists and inverses; `*` stands for every property
  /// at its position. nil: all. Deletions, insertions and moves are always reported.
  public var properties: [String]? {
    didSet { fault = nil }
  }
  /// Names of properties whose modification does not count, nor that of anything behind them.
  public var ignored: [String]
  /// The number of links over which modifications count if no properties are named; nil: three from the rows of a collection, none
  /// from an object. Of more than a thousand paths the shortest are followed.
  public var linkDepth: Int?
  /// The least time that the observer rests after each call; nil: none. Changes meanwhile are reported as one, and none is lost.
  /// The first call is immediate, and `refresh()` and the start of a write do not wait.
  public var throttle: Duration?
  /// Whether `change.details` has deleted and modified objects as they were. The store then keeps one older version in the file
  /// between a commit and the call that reports it. Applies to inverses and to all kinds of results except filtered ones. Elements
  /// of lists have no identity by which to find them; observers of objects and aggregates always receive old values.
  public var includesOldValues: Bool
  /// The error if key paths could not be translated.
  private(set) var fault: StoreError?

  /// Without arguments: every change, without delay.
  public init(
    properties: [String]? = nil, ignoring: [String] = [], linkDepth: Int? = nil, throttle: Duration? = nil,
    includingOldValues: Bool = false
  ) {
    self.properties = properties
    ignored = ignoring
    self.linkDepth = linkDepth
    self.throttle = throttle
    includesOldValues = includingOldValues
  }

  /// Names properties by key path: `ObservationOptions(keyPaths: [\Dog.name])`. A path that is not a persisted property of the
  /// object itself is reported as `.error`; paths over links must be given by name.
  public init<Root>(
    keyPaths: [PartialKeyPath<Root>], throttle: Duration? = nil, includingOldValues: Bool = false
  ) {
    self.init(properties: [], throttle: throttle, includingOldValues: includingOldValues)
    do throws(StoreError) {
      var names: [String] = []
      for path in keyPaths {
        guard let name = (Root.self as? any Model.Type)?.propertyName(of: path) else { throw .notAProperty(path, "\(Root.self)") }
        names.append(name)
      }
      properties = names
    } catch {
      fault = error
    }
  }

  /// Records that the options cannot be satisfied.
  mutating func refuse(_ error: StoreError) { fault = fault ?? error }
}

extension ObservedProperties {
  /// The modifications that count under some options. `.unknownProperty` for a path that leads nowhere.
  func filter(_ options: ObservationOptions) throws(StoreError) -> ResultFilter {
    if let fault = options.fault { throw fault }
    let filter = try options.properties.map { names throws(StoreError) in try only(names) }
    let depth = options.linkDepth ?? ObservedProperties.defaultDepth
    return try ignoring(options.ignored, of: filter ?? everything(depth: depth))
  }
}

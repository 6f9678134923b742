import ChangeTracker
import Notifications
import QueryModel
import StorageInterface
import StoreValues

/// Translates the properties that an observer names to a filter for the notifier.
struct ObservedProperties {
  let entry: TableEntry
  let catalog: Catalog
  private let configuration: StoreConfiguration

  /// nil if the type is not in the store.
  init?(_ type: String, in store: Store) {
    let catalog = store.reading.catalog
    guard let entry = catalog[type] else { return nil }
    self.entry = entry
    self.catalog = catalog
    configuration = store.configuration
  }

  /// Whether an inverse is declared to-one, which only the model knows.
  private func isToOne(_ type: String, _ inverse: String) -> Bool {
    configuration.model(named: type)?.isInverseToOne(inverse) ?? false
  }

  /// The number of links over which changes are reported if an observer names no properties.
  static let defaultDepth = 3

  /// The number of paths with a mark of their own if an observer names none. Named paths always have one.
  private static let ownPathsMax = 30
  /// The maximum number of paths followed, the shortest first.
  private static let pathsMax = 1_000

  /// Every property of the rows, and of the objects reached over at most `depth` links and lists.
  func everything(depth: Int = ObservedProperties.defaultDepth) -> ResultFilter {
    var paths: [ReadPath] = []
    var reached: [(table: TableEntry, hops: [ReadPath.Hop])] = [(entry, [])]
    var links = 0
    while links < depth, !reached.isEmpty {
      links += 1
      var next: [(table: TableEntry, hops: [ReadPath.Hop])] = []
      for (table, hops) in reached {
        for column in table.columns where column.schema.isRelationship && column.schema.isStored {
          guard let target = column.schema.target.flatMap({ catalog[$0] }), paths.count < Self.pathsMax else { continue }
          let way = hops + [.forward(table.column(column.id))]
          paths.append(ReadPath(hops: way, table: target.id, properties: target.storedProperties))
          next.append((target, way))
        }
      }
      reached = next
    }
    return ResultFilter(
      properties: entry.storedProperties, paths: Array(paths.prefix(Self.ownPathsMax)),
      others: Array(paths.dropFirst(Self.ownPathsMax)))
  }

  /// The filter plus some paths, which may be longer than its own and lead over inverses.
  func including(_ paths: [String], in whole: ResultFilter) throws(StoreError) -> ResultFilter {
    if paths.isEmpty { return whole }
    var filter = whole
    let more = try only(paths)
    filter.properties.formUnion(more.properties)
    filter.paths = more.paths + filter.paths
    return filter
  }

  /// Only some paths: names joined by dots, over links, lists and inverses; `*` stands for every property at its position. Every
  /// property on the way counts, like the last one. Without paths, no modification counts.
  func only(_ paths: [String]) throws(StoreError) -> ResultFilter {
    var collector = ReadPathCollector(entry, catalog, isToOne: isToOne)
    for path in paths {
      let expanded = expand(path.split(separator: ".", omittingEmptySubsequences: false).map(String.init), at: entry)
      guard !expanded.isEmpty else { throw .unknownKeyPath(path, of: entry.name) }
      for components in expanded {
        guard collector.add(PropertyPath(components), isSort: false) else { throw .unknownKeyPath(path, of: entry.name) }
      }
    }
    var filter = ResultFilter(properties: PropertySet(), paths: [])
    for path in collector.paths {
      if path.hops.isEmpty { filter.properties.formUnion(path.properties) } else { filter.paths.append(path) }
    }
    return filter
  }

  /// The filter without some of the rows' own properties and the paths behind them.
  func ignoring(_ names: [String], of whole: ResultFilter) throws(StoreError) -> ResultFilter {
    if names.isEmpty { return whole }
    var ignored: Set<PropertyID> = []
    for name in names {
      guard let column = entry[name] else { throw .unknownKeyPath(name, of: entry.name) }
      ignored.insert(column.id)
    }
    var filter = whole
    filter.properties = PropertySet(whole.properties.properties.filter { !ignored.contains($0) })
    func isIgnored(_ path: ReadPath) -> Bool {
      if case .forward(let first)? = path.hops.first { ignored.contains(first.property) } else { false }
    }
    filter.paths.removeAll(where: isIgnored)
    filter.others.removeAll(where: isIgnored)
    return filter
  }

  /// The paths that a pattern matches; empty if there is no such property.
  private func expand(_ pattern: [String], at table: TableEntry) -> [[String]] {
    guard let first = pattern.first else { return [] }
    let names = first == "*" ? table.columns.filter(\.schema.isStored).map(\.schema.name) : [first]
    let rest = Array(pattern.dropFirst())
    var result: [[String]] = []
    for name in names {
      guard let column = table[name] else { continue }
      if rest.isEmpty {
        result.append([name])
      } else if let target = catalog.target(of: column.schema) {
        result += expand(rest, at: target).map { [name] + $0 }
      }
    }
    return result
  }
}

extension TableEntry {
  var storedProperties: PropertySet { PropertySet(columns.filter(\.schema.isStored).map(\.id)) }
}

extension Catalog {
  /// The target type of a relationship or an inverse.
  fileprivate func target(of property: PropertySchema) -> TableEntry? {
    if case .linkingObjects(let origin, _) = property.kind { return self[origin] }
    return property.isRelationship ? property.target.flatMap { self[$0] } : nil
  }
}

extension StoreError {
  static func unknownKeyPath(_ path: String, of type: String) -> StoreError {
    StoreError(
      .unknownProperty, "'\(path)' leads to no property of '\(type)'.",
      remedy: "Name stored properties, joined by dots over links and lists.", details: ["type": type, "path": path])
  }
}

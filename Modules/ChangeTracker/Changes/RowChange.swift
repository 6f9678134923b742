import StorageInterface
import StoreValues

/// What one step did to one row of a view's table.
package struct RowChange: Sendable, Hashable {
  package var key: Int64
  /// Its place before the step; nil when it was not a row of the view. On the way into a view it is the place
  /// where the row was if it was one.
  package var old: OrderedRow?
  /// Its place after the step; nil when it is no row any more.
  package var new: OrderedRow?
  package var marks: RowMarks

  package init(key: Int64, old: OrderedRow?, new: OrderedRow?, marks: RowMarks) {
    self.key = key
    self.old = old
    self.new = new
    self.marks = marks
  }
}

/// What of a row was touched.
package struct RowMarks: Sendable, Hashable {
  /// Its own properties.
  package var properties: PropertySet
  /// Bit i: something at the end of the i-th path that the view follows; bit 62 stands for every further one, and bit 63 for
  /// those of observers that name none.
  package var paths: UInt64

  package init(properties: PropertySet = PropertySet(), paths: UInt64 = 0) {
    self.properties = properties
    self.paths = paths
  }

  package mutating func formUnion(_ other: RowMarks) {
    properties.formUnion(other.properties)
    paths |= other.paths
  }
}

/// Which modifications one token wants to hear of. Deletions, insertions and changes of order are never filtered.
package enum ModificationFilter: Sendable, Hashable {
  case all
  case none
  /// Rows of which one of these properties, or something at the end of one of these paths, was touched.
  case only(PropertySet, paths: UInt64)

  package func wants(_ marks: RowMarks) -> Bool {
    switch self {
    case .all: true
    case .none: false
    case .only(let properties, let paths): !marks.properties.isDisjoint(with: properties) || marks.paths & paths != 0
    }
  }
}

/// One step of a view from a version to the next.
package struct ViewStep {
  package let from: ViewVersion
  package let to: ViewVersion
  /// Rows that are in at least one of the two versions and were touched. `old` and `new` are what they were and are.
  package let rows: [RowChange]
  let positions: PositionedChanges

  /// The change set of this step alone. O(k log k).
  package func changeSet(_ filter: ModificationFilter = .all) -> ChangeSet {
    positions.changeSet { filter.wants(rows[$0].marks) }
  }
}

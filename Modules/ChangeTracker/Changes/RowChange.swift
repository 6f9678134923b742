import StorageInterface
import StoreValues

/// The effect of one step on one row of a view's table.
package struct RowChange: Sendable, Hashable {
  package var key: Int64
  /// Its place before the step; nil if it was not a row of the view. As input to a view: the place the row had if it was one.
  package var old: OrderedRow?
  /// Its place after the step; nil if it is no longer a row.
  package var new: OrderedRow?
  package var marks: RowMarks

  package init(key: Int64, old: OrderedRow?, new: OrderedRow?, marks: RowMarks) {
    self.key = key
    self.old = old
    self.new = new
    self.marks = marks
  }
}

/// The touched parts of a row.
package struct RowMarks: Sendable, Hashable {
  /// Its own properties.
  package var properties: PropertySet
  /// Bit i: something at the end of the i-th path that the view follows; bit 62 stands for all further ones, and bit 63 for the
  /// paths of observers without their own bit.
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

/// The modifications reported to one token. Deletions, insertions and moves are never filtered.
package enum ModificationFilter: Sendable, Hashable {
  case all
  case none
  /// Rows with a change of one of these properties, or at the end of one of these paths.
  case only(PropertySet, paths: UInt64)

  package func wants(_ marks: RowMarks) -> Bool {
    switch self {
    case .all: true
    case .none: false
    case .only(let properties, let paths): !marks.properties.isDisjoint(with: properties) || marks.paths & paths != 0
    }
  }
}

/// A step of a view from one version to the next.
package struct ViewStep {
  package let from: ViewVersion
  package let to: ViewVersion
  /// The touched rows that are in at least one of the two versions, with their places `old` and `new`.
  package let rows: [RowChange]
  let positions: PositionedChanges

  /// The change set of this step alone. O(k log k).
  package func changeSet(_ filter: ModificationFilter = .all) -> ChangeSet {
    positions.changeSet { filter.wants(rows[$0].marks) }
  }
}

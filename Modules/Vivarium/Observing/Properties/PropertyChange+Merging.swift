extension PropertyChange {
  /// This change on top of an earlier one of the same property. What happened to elements is known of one step alone.
  package func since(_ earlier: PropertyChange) -> PropertyChange {
    PropertyChange(
      name: name, oldValue: earlier.oldValue, newValue: newValue, elements: earlier.elements == nil ? elements : nil,
      details: details.map { later in earlier.details.map { ChangeDetails(later, since: $0) } ?? later })
  }
}

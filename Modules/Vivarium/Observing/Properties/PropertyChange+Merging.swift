extension PropertyChange {
  /// This change combined with an earlier one of the same property. Element changes are only known if the earlier change has none.
  package func since(_ earlier: PropertyChange) -> PropertyChange {
    PropertyChange(
      name: name, oldValue: earlier.oldValue, newValue: newValue, elements: earlier.elements == nil ? elements : nil,
      details: details.map { later in earlier.details.map { ChangeDetails(later, since: $0) } ?? later })
  }
}

extension PropertySchema {
  /// The faults of the property's delete rule and derivation, in the schema of its type.
  func ruleFaults(of object: ObjectSchema, in schema: Schema) -> [String] {
    var faults: [String] = []
    if let deleteRule, deleteRule != .nullify, !(isRelationship && isStored) {
      faults.append("has the delete rule '\(deleteRule.rawValue)' and is no relationship")
    }
    if let derivation { faults += self.faults(of: derivation, of: object, in: schema) }
    return faults
  }

  private func faults(of derivation: Derivation, of object: ObjectSchema, in schema: Schema) -> [String] {
    let path = derivation.relationship
    guard case .scalar(let type) = kind, type != .link, !isPrimaryKey else { return ["is derived and no plain scalar"] }
    guard let relationship = object.property(named: path), relationship.derivation == nil,
      !relationship.isScalar
    else { return ["is derived from '\(path)', which is no collection or inverse of \(object.name)"] }
    guard let property = derivation.property else {
      if derivation.function != .count { return ["is derived by '\(derivation.function.rawValue)' of no property"] }
      return type == .int64 && !isOptional ? [] : ["counts '\(path)' and is no Int"]
    }
    if derivation.function == .count { return ["counts '\(path)', of which no property is asked"] }
    let target: String?
    if case .linkingObjects(let origin, _) = relationship.kind { target = origin } else { target = relationship.target }
    guard let source = target.flatMap({ schema[$0] })?.property(named: property), source.derivation == nil,
      case .scalar(let sourceType) = source.kind, sourceType.isNumber
    else { return ["is derived from '\(path).\(property)', which is no number that is set"] }
    return fault(of: derivation.function, type, sourceType).map { [$0] } ?? []
  }

  private func fault(of function: Derivation.Function, _ type: ValueType, _ source: ValueType) -> String? {
    switch function {
    case .count: nil
    case .sum:
      type == (source == .decimal ? .decimal : source.integerRange == nil ? .double : .int64) && !isOptional
        ? nil
        : "is a sum of \(source.rawValue), which is "
          + (source == .decimal ? "a Decimal128" : source.integerRange == nil ? "a Double" : "an Int")
    case .min, .max:
      type == source && isOptional ? nil : "is the least or greatest of \(source.rawValue), which is optional and of that type"
    case .average where source == .decimal:
      type == .decimal && isOptional ? nil : "is an average of decimals, which is a 'Decimal128?'"
    case .average: type == .double && isOptional ? nil : "is an average, which is a 'Double?'"
    }
  }
}

extension ValueType {
  fileprivate var isNumber: Bool { integerRange != nil || self == .float || self == .double || self == .decimal }
}

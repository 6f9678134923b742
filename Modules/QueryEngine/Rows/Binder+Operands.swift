import QueryModel
import StorageInterface
import StoreValues

extension Binder {
  /// Converts a constant operand to the type of the other side if it is written in another: a decimal fraction beside a float
  /// or a decimal, digits in quotes beside a number, a type's name beside `@type`, a key beside a link.
  func adapted(
    _ operand: RowExpression, to other: RowExpression, _ node: ExpressionNode, isChoice: Bool = false
  ) throws(QueryError) -> RowExpression {
    if case .path(let path) = other, path.transform == .typeName { return try typeNames(operand, node) }
    guard let type = staticType(other) else { return operand }
    switch operand {
    case .constant(let value): return .constant(try adapted(value, to: type, other))
    case .constants(let values):
      if isChoice { return .constants(try Binder.choices(values, for: type, keepsOthers: true)) }
      var result: [Value] = []
      for value in values { result.append(try adapted(value, to: type, other)) }
      return .constants(result)
    default: return operand
    }
  }

  /// The constants of `IN` that a value of the type can equal. Those of other types are left out, unless all are. `keepsOthers`
  /// keeps them, although they equal nothing: they matter for ALL, and when whole lists are compared.
  static func choices(_ values: [Value], for type: ValueType, keepsOthers: Bool = false) throws(QueryError) -> [Value] {
    var result: [Value] = []
    var fault: QueryError?
    var isMet = false
    for value in values {
      do throws(QueryError) {
        let adapted = try constant(value, for: type)
        guard adapted.type.map({ ValueClass($0).compares(with: ValueClass(type)) }) ?? true else {
          throw QueryError(
            .typeMismatch, "'\(value)' is no \(type.rawValue) and cannot be among its values.", remedy: "List values of \(type.rawValue).",
            path: "\(value)")
        }
        if !adapted.isNull { isMet = true }
        result.append(adapted)
      } catch {
        fault = error
        if keepsOthers { result.append(value) }
      }
    }
    if let fault, !isMet { throw fault }
    return result
  }

  /// The single type of an operand's values; nil if it has several or none.
  private func staticType(_ expression: RowExpression) -> ValueType? {
    switch expression {
    case .constant, .constants, .list, .object, .typeNames: nil
    case .path(let path): path.valueType
    case .aggregate(let path, let aggregate):
      switch aggregate {
      case .min, .max: path.type
      case .count: .int64
      case .sum, .average: path.type == .decimal || path.type == .mixed ? path.type : .double
      }
    case .subquery: .int64
    case .arithmetic(_, let a, let b):
      [staticType(a), staticType(b)].contains(.mixed) ? .mixed : operandType(a) ?? operandType(b)
    }
  }

  /// Like `staticType`, but a constant in arithmetic has its own type.
  private func operandType(_ expression: RowExpression) -> ValueType? {
    if case .constant(let value) = expression { value.type } else { staticType(expression) }
  }

  private func adapted(_ value: Value, to type: ValueType, _ other: RowExpression) throws(QueryError) -> Value {
    if case .link(let key) = value, type == .link, case .path(let path) = other, let target = path.target {
      return .object(ObjectLink(target, key))
    }
    return try Binder.constant(value, for: type)
  }

  /// A constant in the form in which it is compared with values of a type.
  static func constant(_ value: Value, for type: ValueType) throws(QueryError) -> Value {
    switch (value, type) {
    case (.double(let number), .float): return Binder.nearest(number, isFinite: number.isFinite, type) ?? value
    case (.double(let number), .decimal): return .decimal(Decimal128(shortest: number))
    case (.float(let number), .decimal): return .decimal(Decimal128(shortest: number))
    case (.decimal(let number), .double), (.decimal(let number), .float):
      return Binder.nearest(Double(number), isFinite: !number.isNaN && !number.isInfinite, type) ?? value
    case (.string(let text), _) where type.isNumber:
      guard let number = Binder.number(text, for: type) else {
        throw QueryError(
          .typeMismatch, "'\(text)' is no number, and is compared with \(type.rawValue).", remedy: "Compare with a number.", path: text)
      }
      return number
    default: return value
    }
  }

  /// The nearest value of a type of binary fractions; nil for a finite number beyond all of them, where the nearest would be infinity,
  /// which a property may hold.
  private static func nearest(_ number: Double, isFinite: Bool, _ type: ValueType) -> Value? {
    let isBeyond = isFinite && (type == .float ? Float(number).isInfinite : number.isInfinite)
    if isBeyond { return nil }
    return type == .float ? .float(Float(number)) : .double(number)
  }

  private static func number(_ text: String, for type: ValueType) -> Value? {
    switch type {
    case .decimal: Decimal128(text).map(Value.decimal)
    case .float: Float(text).map(Value.float)
    case .double: Double(text).map(Value.double)
    default: Int64(text).map(Value.int)
    }
  }

  private func typeNames(_ operand: RowExpression, _ node: ExpressionNode) throws(QueryError) -> RowExpression {
    switch operand {
    case .typeNames: return operand
    case .path(let path) where path.transform == .typeName: return operand
    case .constant(.string(let name)):
      if let names = TypeNames(name: name) { return .typeNames(names) }
    case .constants(let values):
      let names = values.compactMap { value -> TypeNames? in
        if case .string(let name) = value { TypeNames(name: name) } else { nil }
      }
      if names.count == values.count { return .list(names.map { .typeNames($0) }) }
    default: break
    }
    throw QueryError(
      .typeMismatch, "'\(node)' is no type that @type can be.", remedy: "Write one of 'int', 'string', 'object' and the like.",
      path: node.description)
  }
}

extension Binder {
  /// Checks that the operands can be compared.
  func check(
    _ a: RowExpression, _ comparator: ComparisonOperator, _ b: RowExpression, _ left: ExpressionNode, _ right: ExpressionNode,
    _ folding: Folding?
  ) throws(QueryError) {
    if comparator == .in, !b.isMany {
      throw QueryError(
        .needsCollection, "IN needs a list or a collection on its right.", remedy: "Use == for one value.", path: right.description)
    }
    if comparator == .between {
      guard case .constants(let bounds) = b, bounds.count == 2 else {
        throw QueryError(
          .badArgument, "BETWEEN needs exactly two bounds.", remedy: "Give a lower and an upper bound.", path: right.description)
      }
    }
    for (many, other, node) in [(a, b, left), (b, a, right)] {
      guard case .path(let path) = many, path.transform == .none, case .objects = path.end else { continue }
      if path.isMany, case .constant(.null) = other {
        throw QueryError(
          .typeMismatch, "'\(node)' is a collection of objects and cannot be compared with nil.",
          remedy: "Compare its @count with 0.", path: node.description)
      }
      for named in other.objects {
        if let target = path.target, target != named.id {
          throw mismatch(node.description, catalog[target]?.name ?? "link", named.name)
        }
      }
    }
    if case .path(let path) = a, path.transform == .typeName, ![.equal, .notEqual, .in].contains(comparator) || folding != nil {
      throw badOperator(comparator, left.description, "a type")
    }
    try checkClasses(a, comparator, b, left, right, isFolded: folding != nil)
  }

  private func checkClasses(
    _ a: RowExpression, _ comparator: ComparisonOperator, _ b: RowExpression, _ left: ExpressionNode, _ right: ExpressionNode,
    isFolded: Bool
  ) throws(QueryError) {
    let kinds = classes(a)
    var others = classes(b)
    // Choices of IN of other classes equal nothing. `choices` made sure that not all of them are.
    if comparator == .in, case .constants = b, staticType(a) != nil {
      others = others.filter { other in kinds.contains { $0.compares(with: other) } }
    }
    let isText = [.contains, .beginsWith, .endsWith, .like, .matches, .text].contains(comparator) || (isFolded && comparator != .in)
    for kind in inOrder(kinds) {
      guard others.allSatisfy({ $0 == kind || $0 == .mixed || kind == .mixed }) else {
        throw QueryError(
          .typeMismatch, "'\(left)' is \(kind) and cannot be compared with '\(right)'.",
          remedy: "Compare it with \(kind).", path: left.description)
      }
      guard kind.allows(comparator), !isText || kind.isText else { throw badOperator(comparator, left.description, "\(kind)") }
    }
    for kind in inOrder(others) where isText && !kind.isText {
      throw badOperator(comparator, right.description, "\(kind)")
    }
  }

  /// A fixed order, so that the same error is always reported first.
  private func inOrder(_ classes: Set<ValueClass>) -> [ValueClass] {
    classes.count < 2 ? Array(classes) : classes.sorted { "\($0)" < "\($1)" }
  }

  /// The classes of the values an operand can have; empty for null.
  private func classes(_ expression: RowExpression) -> Set<ValueClass> {
    switch expression {
    case .constant(let value): Set(value.type.map { [ValueClass($0)] } ?? [])
    case .constants(let values): Set(values.compactMap { $0.type.map(ValueClass.init) })
    case .list(let elements): elements.reduce(into: []) { $0.formUnion(classes($1)) }
    case .object: [.link]
    case .typeNames: [.typeName]
    case .path(let path): [path.valueType.map(ValueClass.init) ?? .typeName]
    case .aggregate(let path, let aggregate):
      aggregate == .min || aggregate == .max ? [ValueClass(path.type)] : [.number]
    case .subquery: [.number]
    case .arithmetic(_, let a, let b): classes(a).union(classes(b)).contains(.mixed) ? [.mixed] : [.number]
    }
  }
}

extension RowExpression {
  /// The types of the objects that are named directly.
  fileprivate var objects: [TableEntry] {
    switch self {
    case .object(let entry, _): [entry]
    case .list(let elements): elements.flatMap(\.objects)
    default: []
    }
  }
}

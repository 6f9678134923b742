/// The codes of operations: part of the format, so a code is never reused.
private enum Code: UInt8 {
  case create = 1, delete, set, setDefault, add, make, remove, insert, setElement, move, erase, insertMember, eraseMember
  case setEntry, eraseEntry, clear
}

extension TableWriter {
  mutating func put(_ operation: Operation) {
    let code: Code =
      switch operation.action {
      case .create: .create
      case .delete: .delete
      case .set(_, _, let isDefault): isDefault ? .setDefault : .set
      case .add: .add
      case .make: .make
      case .remove: .remove
      case .insert: .insert
      case .setElement: .setElement
      case .move: .move
      case .erase: .erase
      case .insertMember: .insertMember
      case .eraseMember: .eraseMember
      case .setEntry: .setEntry
      case .eraseEntry: .eraseEntry
      case .clear: .clear
      }
    body.put(byte: code.rawValue)
    put(LinkTarget(operation.object, epoch: operation.epoch))
    body.put(operation.path.count)
    for step in operation.path { put(step) }
    put(operation.action)
  }

  private mutating func put(_ action: Operation.Action) {
    switch action {
    case .create, .delete, .make, .remove, .clear: break
    case .set(let name, let value, _):
      put(name)
      put(value)
    case .add(let name, let delta):
      put(name)
      body.put(signed: delta)
    case .insert(let id, let position, let value), .setElement(let id, let position, let value):
      put(id)
      put(position)
      put(value)
    case .move(let id, let from, let to):
      put(id)
      put(from)
      put(to)
    case .erase(let id, let position):
      put(id)
      put(position)
    case .insertMember(let value), .eraseMember(let value): put(value)
    case .setEntry(let key, let value):
      put(key)
      put(value)
    case .eraseEntry(let key): put(key)
    }
  }

  mutating func put(_ place: PathStep.Place) {
    switch place {
    case .embedded(let name): put(0, name)
    case .list(let name): put(1, name)
    case .set(let name): put(2, name)
    case .map(let name): put(3, name)
    case .entry(let key): put(4, key)
    case .element(let id):
      body.put(byte: 5)
      put(id)
    }
  }

  private mutating func put(_ kind: UInt8, _ name: Name) {
    body.put(byte: kind)
    put(name)
  }

  private mutating func put(_ step: PathStep) {
    put(step.place)
    if case .element = step.place { put(step.near) }
    put(step.epoch)
  }
}

extension TableReader {
  mutating func operation() throws(CodingError) -> Operation {
    let start = body.position
    let byte = try body.byte()
    guard let code = Code(rawValue: byte) else { throw CodingError(.code(byte), at: start) }
    let target = try target()
    let count = try body.count(of: 3)
    guard count <= Operation.depthMax else { throw CodingError(.depth, at: start) }
    var path: [PathStep] = []
    for _ in 0..<count {
      let place = try place()
      var near = ListPosition.none
      if case .element = place { near = try position() }
      path.append(PathStep(place, epoch: try stamp(), near: near))
    }
    let operation = Operation(target.object, epoch: target.epoch, path: path, try action(code))
    guard operation.isWellFormed else { throw CodingError(.path, at: start) }
    return operation
  }

  mutating func place() throws(CodingError) -> PathStep.Place {
    let start = body.position
    switch try body.byte() {
    case 0: return .embedded(try name())
    case 1: return .list(try name())
    case 2: return .set(try name())
    case 3: return .map(try name())
    case 4: return .entry(try name())
    case 5: return .element(try elementID())
    case let code: throw CodingError(.code(code), at: start)
    }
  }

  private mutating func action(_ code: Code) throws(CodingError) -> Operation.Action {
    switch code {
    case .create: return .create
    case .delete: return .delete
    case .make: return .make
    case .remove: return .remove
    case .clear: return .clear
    case .set, .setDefault:
      let name = try name()
      return .set(name, try value(), isDefault: code == .setDefault)
    case .add:
      let name = try name()
      return .add(name, try body.signed())
    case .insert, .setElement:
      let id = try elementID()
      let position = try position()
      let value = try value()
      return code == .insert ? .insert(id, at: position, value) : .setElement(id, near: position, value)
    case .move:
      let id = try elementID()
      let from = try position()
      return .move(id, from: from, to: try position())
    case .erase:
      let id = try elementID()
      return .erase(id, near: try position())
    case .insertMember: return .insertMember(try value())
    case .eraseMember: return .eraseMember(try value())
    case .setEntry:
      let key = try name()
      return .setEntry(key, try value())
    case .eraseEntry: return .eraseEntry(try name())
    }
  }
}

import SyncModel

extension ByteWriter {
  /// Each sequence number is written as the difference to the one before.
  package mutating func put(_ entries: [LogEntry]) {
    put(entries.count)
    var last: UInt64 = 0
    for entry in entries {
      put(entry.seq.rawValue &- last)
      last = entry.seq.rawValue
      switch entry.body {
      case .changeset(let author, let changeset):
        put(byte: 1)
        put(author)
        put(changeset.encoded())
      case .own(let clientSeq):
        put(byte: 2)
        put(clientSeq)
      case .refusal(let clientSeq, let code, let text, let states):
        put(byte: 3)
        put(clientSeq)
        put(UInt64(code.rawValue))
        put(text)
        put(states)
      case .purge(let purge):
        put(byte: 4)
        put(seq: purge.stable)
        put(purge.floor)
      case .schema(let schema):
        put(byte: 5)
        put(schema)
      }
    }
  }

  /// In the order of their identities; what does not exist is empty.
  package mutating func put(_ states: [ObjectIdentity: ObjectState?]) {
    let objects = states.keys.sorted()
    put(ObjectIdentity.encode(objects))
    for object in objects { put(states[object].flatMap { $0 }?.encoded() ?? []) }
  }

  package mutating func put(_ page: StatePage) {
    put(seq: page.asOf)
    put(seq: page.stable)
    put(page.floor)
    put(page.latest)
    put(byte: page.isLast ? 1 : 0)
    put(page.next)
    put(ObjectIdentity.encode(page.objects.map(\.identity)))
    for object in page.objects { put(object.state.encoded()) }
  }
}

extension ByteReader {
  package mutating func entries() throws(CodingError) -> [LogEntry] {
    var entries: [LogEntry] = []
    var last: UInt64 = 0
    for _ in 0..<(try count(of: 3)) {
      let start = position
      let (seq, overflow) = last.addingReportingOverflow(try number())
      guard !overflow, seq > last else { throw CodingError(.order, at: start) }
      last = seq
      entries.append(LogEntry(Seq(seq), try entry()))
    }
    return entries
  }

  private mutating func entry() throws(CodingError) -> LogEntry.Body {
    let start = position
    switch try byte() {
    case 1:
      let author = try text()
      return .changeset(author: author, try nested { bytes throws(CodingError) in try Changeset(decoding: bytes) })
    case 2: return .own(clientSeq: try number())
    case 3:
      let clientSeq = try number()
      let code = try errorCode()
      let text = try text()
      return .refusal(clientSeq: clientSeq, code: code, text: text, states: try states())
    case 4:
      let stable = try logSeq()
      return .purge(Purge(stable: stable, floor: try stamp()))
    case 5: return .schema(try bytes())
    case let code: throw CodingError(.code(code), at: start)
    }
  }

  package mutating func states() throws(CodingError) -> [ObjectIdentity: ObjectState?] {
    var states: [ObjectIdentity: ObjectState?] = [:]
    var last: ObjectIdentity?
    let start = position
    for object in try nested({ bytes throws(CodingError) in try ObjectIdentity.decode(bytes) }) {
      if let last, !(last < object) { throw CodingError(.order, at: start) }
      last = object
      let state: ObjectState? = try nested { bytes throws(CodingError) in bytes.isEmpty ? nil : try ObjectState(decoding: bytes) }
      states.updateValue(state, forKey: object)
    }
    return states
  }

  package mutating func page() throws(CodingError) -> StatePage {
    let (asOf, stable) = (try logSeq(), try logSeq())
    let (floor, latest) = (try stamp(), try stamp())
    let isLast = try flag()
    let next = try bytes()
    var objects: [StatePage.Object] = []
    for identity in try nested({ bytes throws(CodingError) in try ObjectIdentity.decode(bytes) }) {
      objects.append(StatePage.Object(identity, try nested { bytes throws(CodingError) in try ObjectState(decoding: bytes) }))
    }
    return StatePage(asOf: asOf, stable: stable, floor: floor, latest: latest, objects: objects, next: next, isLast: isLast)
  }
}

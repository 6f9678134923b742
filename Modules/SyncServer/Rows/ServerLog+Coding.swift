import SyncModel
import SyncProtocol

// The encoding of a log's rows: see `StoreRows`.

extension ServerLog {
  var headRow: [UInt8] {
    var writer = ByteWriter()
    writer.put(history)
    writer.put(logStart.rawValue)
    for stamp in [latest, purged.floor, state.floor] { writer.put(stamp) }
    writer.put(purged.stable.rawValue)
    return writer.bytes
  }

  mutating func readHead(_ row: [UInt8]) throws(CodingError) {
    var reader = ByteReader(row)
    history = Array(try reader.content())
    logStart = Seq(try reader.number())
    base = logStart
    latest = try reader.stamp()
    let floor = try reader.stamp()
    state.setFloor(try reader.stamp())
    purged = Purge(stable: Seq(try reader.number()), floor: floor)
    try reader.end()
  }

  var handlersRow: [UInt8] {
    var writer = ByteWriter()
    writer.put(handlers.count)
    for (name, handler) in handlers.sorted(by: { $0.key < $1.key }) {
      writer.put(name)
      writer.put(handler.cursor.rawValue)
      writer.put(handler.author?.rawValue ?? 0)
      writer.put(handler.fence)
      writer.put(signed: handler.leaseEnd)
    }
    return writer.bytes
  }

  mutating func readHandlers(_ reader: inout ByteReader) throws(CodingError) {
    for _ in 0..<(try reader.count(of: 5)) {
      let name = try reader.text()
      var handler = Handler(cursor: Seq(try reader.number()))
      let author = try reader.number()
      handler.author = author == 0 ? nil : ReplicaID(author)
      handler.fence = try reader.number()
      handler.leaseEnd = try reader.signed()
      handlers[name] = handler
    }
  }
}

extension ServerLog.Replica {
  package var row: [UInt8] {
    var writer = ByteWriter()
    writer.put(secret)
    writer.put(user)
    writer.put(gate.answered)
    writer.put(gate.refused.rawValue)
    writer.put(judgedStamp)
    for seq in [pendingBase, cursor, refusalSeen] { writer.put(seq.rawValue) }
    writer.put(signed: seenAt)
    writer.put(refusals.count)
    for (seq, clientSeq) in refusals {
      writer.put(seq.rawValue)
      writer.put(clientSeq)
    }
    return writer.bytes
  }

  package init(_ reader: inout ByteReader) throws(CodingError) {
    let secret = Array(try reader.content())
    self.init(secret: secret, user: try reader.text(), seenAt: 0)
    let answered = try reader.number()
    gate = UploadGate(answered: answered, refused: Seq(try reader.number()))
    judgedStamp = try reader.stamp()
    pendingBase = Seq(try reader.number())
    cursor = Seq(try reader.number())
    refusalSeen = Seq(try reader.number())
    seenAt = try reader.signed()
    for _ in 0..<(try reader.count(of: 2)) {
      let seq = Seq(try reader.number())
      refusals.append((seq, try reader.number()))
    }
  }
}

extension ServerLog.Entry {
  /// In the form in which it is sent.
  package func row(_ seq: Seq) -> [UInt8] {
    var writer = ByteWriter()
    let sent: LogEntry.Body
    switch body {
    case .changeset(let changeset, let user): (sent, _) = (.changeset(author: user, changeset), writer.put(fixed: UInt64(0)))
    case .refusal(let replica, let refusal, let code, let text):
      writer.put(fixed: replica.rawValue)
      sent = .refusal(clientSeq: refusal.clientSeq, code: code, text: text, states: refusal.states)
    case .purge(let purge): (sent, _) = (.purge(purge), writer.put(fixed: UInt64(0)))
    }
    writer.put(bytes)
    writer.put(raw: ServerMessage.changes(session: 0, [LogEntry(seq, sent)]).frame.body)
    return writer.bytes
  }

  package init(row: [UInt8], _ seq: Seq) throws(CodingError) {
    before = nil
    var reader = ByteReader(row)
    let replica = ReplicaID(try reader.fixed(UInt64.self))
    bytes = Int(truncatingIfNeeded: try reader.number())
    let place = reader.position
    let frame = SyncFrame(type: ServerMessage.changes(session: 0, []).frame.type, body: Array(try reader.raw(reader.left)))
    let message: ServerMessage
    do throws(FrameError) { message = try ServerMessage(frame) } catch { throw CodingError(.value, at: place) }
    guard case .changes(_, let entries) = message, entries.count == 1, entries[0].seq == seq else {
      throw CodingError(.value, at: place)
    }
    switch entries[0].body {
    case .changeset(let user, let changeset): body = .changeset(changeset, user: user)
    case .refusal(let clientSeq, let code, let text, let states):
      body = .refusal(replica, Refusal(clientSeq: clientSeq, seq: seq, states: states), code, text)
    case .purge(let purge): body = .purge(purge)
    case .own, .schema: throw CodingError(.value, at: place)
    }
  }
}

extension ByteWriter {
  mutating func put(_ text: String) { put(text.utf8) }

  mutating func put(_ stamp: Stamp) {
    put(stamp.time)
    put(fixed: stamp.replica.rawValue)
  }
}

extension ByteReader {
  mutating func stamp() throws(CodingError) -> Stamp {
    let time = try number()
    return Stamp(time: time, replica: ReplicaID(try fixed(UInt64.self)))
  }
}

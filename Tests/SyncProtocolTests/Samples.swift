import StoreValues
import SyncModel
import SyncProtocol

/// One of each message, with something in each field.
enum Samples {
  static let replica = ReplicaID(0x0102_0304_0506_0708)
  static let stamp = Stamp(milliseconds: 1_000, counter: 3, replica: replica)
  static let thing = ObjectIdentity("Thing", .int(-3))
  static let note = ObjectIdentity("Note", .created(replica, ObjectKey(7)))
  static let sixteen = [UInt8](1...16)

  static let changeset = Changeset(
    clientSeq: 300, baseSeq: Seq(7), schemaHash: 1, first: stamp,
    operations: [
      Operation(thing, epoch: .zero, .create), Operation(thing, epoch: .zero, .set("name", .string("Ann"), isDefault: false)),
    ])

  /// An object on which a changeset was done.
  static var state: ObjectState {
    var memory = MemoryState()
    Merge.apply(changeset, seq: Seq(8), to: &memory)
    return Merge.objectState(of: thing, in: memory) ?? ObjectState(record: ObjectRecord(), lists: [])
  }

  static let client: [ClientMessage] = [
    .hello(Hello(versions: [1, 300], features: [.compression, SyncFeatures(rawValue: 1 << 40)], token: "tökén", device: "phone")),
    .authenticate(token: ""),
    .bind(
      session: 1,
      Bind(
        path: "/~/tasks", replica: replica, secret: sixteen, cursor: Seq(7), history: sixteen, refusalSeen: .zero, pendingBase: Seq(5),
        schemaHash: 0xFEED)),
    .upload(session: 1, [changeset, Changeset(clientSeq: 301, baseSeq: Seq(7), first: stamp.advanced(by: 2), operations: [])]),
    .void(session: 2, clientSeq: 9, objects: [thing, note]),
    .acknowledge(session: 1, Acknowledgement(cursor: Seq(900), pendingBase: Seq(899), refusalSeen: Seq(4))),
    .credit(session: .max, bytes: .max),
    .mark(session: 1, number: 0),
    .unbind(session: 128),
    .schema(session: 1, [1, 2, 3]),
    .ping(number: 5, roundTrip: 20),
    .rest(
      session: 1,
      BegunPages(mode: .snapshot, history: sixteen, asOf: Seq(9), stable: Seq(3), judged: 300, refusal: Seq(70), next: [1, 2])),
    .unknown(type: 0xC0),
  ]

  static let server: [ServerMessage] = [
    .welcome(Welcome(version: 1, features: .compression, serverTime: 1_700_000_000_000, pingSeconds: 30, messageBytes: 16 << 20)),
    .authenticated,
    .expiring(seconds: 60),
    .bound(
      session: 1,
      Bound(
        mode: .delta, rights: [.read, .write], history: sixteen, head: Seq(90), stable: Seq(80), judged: 300, judgedStamp: stamp,
        refusal: Seq(70), refused: [298, 300], schemaHash: 1, credit: 1 << 20)),
    .bound(
      session: 2,
      Bound(
        mode: .rest, rights: .read, history: sixteen, head: .zero, stable: .zero, judged: 0, judgedStamp: .zero, refusal: .zero,
        refused: [], schemaHash: 0, credit: 1)),
    .acknowledged(session: 1, clientSeq: 300),
    .changes(
      session: 1,
      [
        LogEntry(Seq(8), .changeset(author: "ann", changeset)), LogEntry(Seq(9), .own(clientSeq: 4)),
        LogEntry(Seq(300), .refusal(clientSeq: 5, code: .writeDenied, text: "no", states: [thing: state, note: nil])),
        LogEntry(Seq(301), .purge(Purge(stable: Seq(200), floor: stamp))), LogEntry(Seq(302), .schema([9])),
      ]),
    .state(
      session: 1,
      StatePage(asOf: Seq(9), stable: Seq(3), floor: stamp, latest: stamp.advanced(by: 5), objects: [.init(thing, state)],
        next: [1, 2], isLast: false)),
    .credit(session: 1, bytes: 4 << 20),
    .marked(session: 1, number: 6),
    .unbound(session: 1),
    .schema(session: 1, []),
    .progress(session: 1, head: Seq(1_000), bytesLeft: 12_345),
    .pong(number: 5),
    .goAway(seconds: 10),
    .error(session: 0, code: .overloaded, retryAfterSeconds: 30, text: "later"),
    .unknown(type: 0xFF),
  ]
}

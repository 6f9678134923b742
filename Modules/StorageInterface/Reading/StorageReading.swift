/// What can be read in a snapshot and in an open write alike: one version of a store.
///
/// How to read each kind of property:
///
/// | kind | one object | many objects |
/// |---|---|---|
/// | Bool, integers, Float, Double, Date, to-one link | `word`, window | `scan`, `keys(in:)` |
/// | String, Data, UUID, ObjectId (12 bytes) | `bytes`, window | `scan`, `keys(in:)` |
/// | Decimal128 | `bytes`: 16, `Value(bytes:type:)` | `scan` (bytes do not order as values), `keys(in:)` |
/// | mixed | `bytes`: `MixedCoding`, nil is null | `scan` (as before), `keys(in:)` |
/// | list | `elementCount`, `elements`: `columns[0]` in list order | |
/// | set | the same in `Value.order`, null first; `contains(member:)`, `position(of:)` | |
/// | map | `columns[0]` the values, `columns[1]` the keys (String) in key order; `value(forKey:)`, `position(of:)` | |
/// | any of these of links | also `sources(of: ObjectKey, …)` backwards | |
/// | mixed, also collections of it, with links inside | also `sources(of: ObjectLink, …)` backwards | |
/// | embedded object | as a link to an object of its own table; its one owner: `sources` | |
/// | inverse | `sources` of the property it is the inverse of | |
///
/// `value` and `values` read any of them in boxes.
///
/// Query code, live objects and tools read through this protocol alone. It has no calls of its own: each part that it is made of says when
/// and how often its calls are made.
///
/// **Threads.** One thread at a time. It may move between threads: the calls need no thread of their own.
/// **Memory.** What is lent to a closure ends with the closure. A closure must not call the same transaction's
/// changing methods, and may call its reading ones.
/// **Errors.** `.objectDeleted` (scope statement) for a key that does not live in this version, `.misuse` for a
/// table, column or index that the catalog does not have or that is of another kind than the call wants, and
/// whatever the disk causes (`.io`, `.corrupt`, `.snapshotExpired`, `.closed`).
public protocol StorageReading: RowReading, IndexReading, CollectionReading, LinkReading, HistoryReading {}

/// A snapshot: one committed version, unchanged until ended, whatever is committed meanwhile.
///
/// It holds its version in the file: while it lives, the space of what was replaced since is not reused. It
/// never blocks a writer and no writer blocks it. There is no "begin at version v": a version passes between
/// threads by passing this object.
public protocol ReadTransaction: StorageReading, Sendable {}

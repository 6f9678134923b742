/// The reading interface of snapshots and open writes: one version of a store.
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
/// `value` and `values` read any of them as `Value`s.
///
/// Query code, live objects and tools read only through this protocol. It adds no calls of its own: each of its parts documents
/// when and how often its calls are made.
///
/// **Threads.** One thread at a time. It may move between threads: the calls need no thread of their own.
/// **Memory.** Memory lent to a closure is valid until the closure returns. A closure must not call the same transaction's
/// changing methods, but may call its reading ones.
/// **Errors.** `.objectDeleted` (scope statement) for a key that does not exist in this version, `.misuse` for a table, column
/// or index that the catalog does not have or that is of the wrong kind for the call, and errors of the disk (`.io`,
/// `.corrupt`, `.snapshotExpired`, `.closed`).
public protocol StorageReading: RowReading, IndexReading, CollectionReading, LinkReading, HistoryReading {}

/// A snapshot: one committed version, unchanged until ended, whatever is committed meanwhile.
///
/// It holds its version in the file: while it lives, the space of data replaced since is not reused. It never blocks a writer
/// and no writer blocks it. There is no "begin at version v": pass this object to read the same version on another thread.
public protocol ReadTransaction: StorageReading, Sendable {}

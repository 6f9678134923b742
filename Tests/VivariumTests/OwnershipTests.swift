import Foundation
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Studio {
  var name = ""
  @Relationship(deleteRule: .cascade) var albums: LiveList<Album>
  @Relationship(deleteRule: .deny) var guests: LiveList<Guest>
}

@Model final class Album {
  var title = ""
  @Relationship(deleteRule: .cascade) var songs: LiveList<Song>
  @Relationship(deleteRule: .cascade) var cover: Picture?
  @Inverse(\Studio.albums) var studio: Studio?
}

@Model final class Song {
  var title = ""
  @Relationship(deleteRule: .nullify) var picture: Picture?
}

@Model final class Picture { var file = "" }
@Model final class Guest { var name = "" }

private func makeStudioStore() throws -> Store {
  var configuration = StoreConfiguration.reference(
    nil, models: [Studio.self, Album.self, Song.self, Picture.self, Guest.self])
  configuration.manualDelivery = true
  return try Store(configuration)
}

@Suite struct OwnershipTests {
  private func threeLevels(_ store: Store) throws -> Studio {
    let studio = Studio(name: "S")
    studio.albums = LiveList((0..<2).map { album in
      let made = Album(title: "A\(album)", cover: Picture(file: "\(album).png"))
      made.songs = LiveList((0..<3).map { Song(title: "\(album).\($0)", picture: Picture(file: "song")) })
      return made
    })
    try store.write { try store.add(studio) }
    return studio
  }

  @Test func aCascadeTakesThreeLevelsInOneCommit() throws {
    let store = try makeStudioStore()
    let studio = try threeLevels(store)
    let version = store.version
    try store.write { try store.delete(studio) }
    #expect(store.objects(Album.self).isEmpty && store.objects(Song.self).isEmpty)
    // The covers went with their albums; what the songs merely point to stays.
    #expect(store.objects(Picture.self).map(\.file) == Array(repeating: "song", count: 6))
    #expect(store.version.rawValue == version.rawValue + 1)
  }

  @Test func aSharedObjectLivesAsLongAsItsLastOwner() throws {
    let store = try makeStudioStore()
    let song = Song(title: "both")
    let (a, b) = (Album(title: "a"), Album(title: "b"))
    a.songs = [song]
    b.songs = [song]
    try store.write { try store.add([a, b]) }
    try store.write { try store.delete(a) }
    #expect(!song.isInvalidated && b.songs.count == 1)
    try store.write { try store.delete(b) }
    #expect(song.isInvalidated)
  }

  @Test func anOrphanGoesAtTheCommitAndCanBeMovedBefore() throws {
    let store = try makeStudioStore()
    let studio = try threeLevels(store)
    let (first, second) = (studio.albums[0], studio.albums[1])
    let moved = first.songs[0]
    let dropped = first.songs[1]
    let cover = try #require(first.cover)
    try store.write {
      first.songs.removeSubrange(0..<2)
      second.songs.append(moved)
      #expect(!dropped.isInvalidated)
      first.cover = Picture(file: "new.png")
    }
    #expect(dropped.isInvalidated && cover.isInvalidated && !moved.isInvalidated)
    #expect(first.cover?.file == "new.png" && second.songs.count == 4 && store.objects(Song.self).count == 5)
    try store.write { studio.albums.removeAll() }
    #expect(store.objects(Song.self).isEmpty && store.objects(Album.self).isEmpty)
  }

  @Test func aRolledBackRelinkLeavesNoOrphan() throws {
    let store = try makeStudioStore()
    let free = Song(title: "free")
    let album = Album(title: "a")
    try store.write { try store.add(free); try store.add(album) }
    struct Undo: Error {}
    try store.write {
      try? store.savepoint {
        album.songs.append(free)
        album.songs.removeAll()
        throw Undo()
      }
    }
    #expect(!free.isInvalidated)
  }

  @Test func deletingASongNobodyDeniesTakesItOutOfItsList() throws {
    let store = try makeStudioStore()
    let studio = try threeLevels(store)
    try store.write { try store.delete(studio.albums[0].songs[1]) }
    #expect(studio.albums[0].songs.map(\.title) == ["0.0", "0.2"] && studio.albums[0].studio == studio)
  }

  @Test func aDenyRuleRefusesTheDeleteAndChangesNothing() throws {
    let store = try makeStudioStore()
    let studio = try threeLevels(store)
    try store.write { studio.guests.append(Guest(name: "G")) }
    try store.write {
      do throws(StoreError) {
        try store.delete(studio)
        Issue.record("deleted")
      } catch {
        #expect(error.code == .deleteDenied && error.message.contains("Studio.guests"))
      }
    }
    #expect(!studio.isInvalidated && store.objects(Album.self).count == 2)
    try store.write {
      try store.delete(store.objects(Guest.self))
      try store.delete(studio)
    }
    #expect(store.objects(Studio.self).isEmpty && store.objects(Album.self).isEmpty)
  }

  @Test func deleteAllAsksNoRules() throws {
    let store = try makeStudioStore()
    let studio = try threeLevels(store)
    try store.write { studio.guests.append(Guest(name: "G")) }
    try store.write { try store.deleteAll() }
    #expect(store.objects(Studio.self).isEmpty && store.objects(Guest.self).isEmpty && store.objects(Picture.self).isEmpty)
  }

  @Test func aChainOfManyOwnersGoesWithoutRecursion() throws {
    var configuration = StoreConfiguration.reference(nil, models: [Link.self])
    configuration.manualDelivery = true
    let store = try Store(configuration)
    var chain = Link()
    for _ in 0..<20_000 { chain = Link(next: chain) }
    try store.write { try store.add(chain) }
    try store.write { try store.delete(chain) }
    #expect(store.objects(Link.self).isEmpty)
  }
}

@Model final class Link {
  @Relationship(deleteRule: .cascade) var next: Link?
}

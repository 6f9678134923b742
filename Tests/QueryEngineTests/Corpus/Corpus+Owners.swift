extension Corpus {
  /// Null links and empty lists on the way, collections behind collections, whole lists, and SUBQUERY conditions that
  /// look at the objects round them.
  static let owners: [(condition: String, rows: [Int])] = [
    ("friends.home.city == nil", [0, 3]), ("NONE friends.home.size == nil", [0, 1, 2, 3, 5, 6, 7]),
    ("nums != {1, 5, 6}", [1, 2, 3, 4, 5, 6, 7]), ("nums != {3, 2, 4}", [1, 2, 3, 4, 6, 7]), ("nums < {2, 3, 4}", [0]),
    ("friends.name.@count == 4", [0, 2, 5]), ("friends.name.@size == 6", [3]), ("ALL friends.name.@count > 2", [1, 3, 5, 6, 7]),
    ("friends.words.@count == 3", [4]), ("friends.blob.@count == 3", [2, 3, 6]), ("boss.name.@count == 4", [1, 2]),
    ("nums IN {5, 5, 'x'}", []), ("ALL nums IN {2, 2, 'x'}", [1]), ("ANY nums IN {1, 'x'}", [0, 6]), ("age IN ALL {30, 'x'}", []),
    ("age IN ALL {30, 30}", [0, 4]), ("name IN ALL {'Bob', 1}", []), ("age IN ANY {30, 'x', nil}", [0, 1, 4]),
    ("ALL nums IN {5, 7}", [1, 2]), ("ALL nums IN {2, 3, 4}", [1, 7]), ("nums IN {5, 5}", [2]),
    ("friends.age BETWEEN {1, 29}", [2, 4]), ("NONE friends.age BETWEEN {1, 29}", [1, 5, 7]),
    ("nums[0] == nil", [3, 6]), ("nums[1] == nil", [3, 4, 7]), ("nums[1] != 5", [0, 3, 4, 5, 6, 7]), ("ALL nums[0] == 5", [1, 2]),
    ("boss.friends.@count == 0", [7]), ("NOT boss.friends.@count > 0", [0, 6, 7]), ("boss.nums.@count == 0", [0, 6]),
    ("friends.friends.@count > 2", [0]), ("ALL friends.friends.@count > 0", [1, 2, 4, 6, 7]),
    ("friends.staff.@count == 1", [0, 2, 3, 4]), ("friends.boss.@count == 0", [2, 6]),
    ("age / 0 > 100", [0, 3, 4, 5, 6, 7]), ("age / 0 < 0", [2]), ("weight == 0.1f", [3]), ("weight == 1000f", [4]),
    ("words.LENGTH > 20", [6]), ("born == T+100:0", [1, 4]), ("weight == .1f OR weight == 7.f", [3, 6]),
    ("SUBQUERY(friends, $f, $f.age > SELF.age).@count > 0", [2, 3]), ("SUBQUERY(friends, $f, $f == SELF).@count > 0", [4, 6]),
    ("SUBQUERY(friends, $f, SUBQUERY($f.friends, $g, $g.age == $f.age).@count > 0).@count > 0", [4, 6]),
    ("SUBQUERY(friends, $f, SUBQUERY($f.friends, $g, $g == SELF).@count > 0).@count > 0", [0, 2, 4, 6]),
    ("SUBQUERY(friends, $f, $f.nums.@count < SELF.nums.@count).@count == 1", [2, 5]),
    ("SUBQUERY(friends, $f, $f.weight == 0.1).@count > 0", [2, 4]), ("SELF.age == 30", [0, 4]), ("SELF.boss.age == 30", [1, 2, 5]),
  ]

  /// In the order of what operators make of relationships: the rows in order.
  static let orderedByOwners: [(condition: String, rows: [Int])] = [
    ("TRUEPREDICATE SORT((friends.@count) DESC)", [2, 0, 4, 3, 5, 6, 1, 7]),
    ("TRUEPREDICATE SORT((friends.@count) ASC)", [1, 7, 3, 5, 6, 0, 4, 2]),
    ("TRUEPREDICATE SORT((staff.@count) DESC, age ASC)", [0, 2, 3, 4, 7, 1, 5, 6]),
    ("TRUEPREDICATE SORT((friends.@max.age) DESC) LIMIT(2)", [3, 6]),
    ("TRUEPREDICATE SORT((boss.friends.@count) ASC)", [7, 4, 1, 2, 5, 3, 0, 6]),
    ("TRUEPREDICATE SORT(staff.age ASC)", [0, 2, 4, 3, 7, 1, 5, 6]), ("TRUEPREDICATE SORT(staff.age DESC)", [1, 5, 6, 7, 3, 4, 2, 0]),
    ("TRUEPREDICATE SORT((staff.friends.@count) ASC)", [0, 7, 2, 4, 3, 1, 5, 6]), ("TRUEPREDICATE DISTINCT(staff.age)", [0, 2, 3, 4, 7]),
    ("TRUEPREDICATE SORT(boss.staff.age ASC)", [1, 2, 3, 5, 4, 7, 0, 6]), ("TRUEPREDICATE SORT(staff.age DESC) OFFSET(3) LIMIT(2)", [7, 3]),
    ("TRUEPREDICATE SORT((staff.@max.age) DESC, age ASC) LIMIT(3)", [7, 3, 4]),
    ("TRUEPREDICATE SORT((boss.friends.@max.age) ASC)", [7, 1, 2, 3, 5, 4, 0, 6]),
    ("TRUEPREDICATE SORT((boss.friends.@max.age) DESC)", [0, 6, 4, 3, 5, 1, 2, 7]),
    ("TRUEPREDICATE DISTINCT((boss.friends.@max.age))", [1, 3, 4, 7]),
    ("TRUEPREDICATE DISTINCT((friends.@count))", [0, 1, 2, 3]), ("age > 0 SORT((nums.@sum) DESC) OFFSET(1) LIMIT(2)", [5, 7]),
  ]
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.runtime.internal.publish.plan.OrderedArrangement.SliceIndexes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class OrderedArrangementTest {

    private static final int LIMIT = 3;

    private Set<Integer> taken = Set.of();

    private static List<Device> devices(String names) {
        return names.chars()
                .mapToObj(name -> Device.builder(String.valueOf((char) name)).build())
                .toList();
    }

    private static String names(List<Device> devices) {
        return devices.stream().map(it -> it.name().value()).collect(Collectors.joining());
    }

    private static String brief(TreeMap<Integer, List<Device>> slices) {
        return slices.values().stream().map(OrderedArrangementTest::names).collect(Collectors.joining(" "));
    }

    /** Slices as a first plan names them. */
    private static TreeMap<Integer, List<Device>> slices(String each) {
        TreeMap<Integer, List<Device>> slices = new TreeMap<>();
        for (String held : each.split(" ")) {
            slices.put(SliceIndexes.FIRST + slices.size() * SliceIndexes.STEP, devices(held.equals("-") ? "" : held));
        }
        return slices;
    }

    private TreeMap<Integer, List<Device>> place(String names, TreeMap<Integer, List<Device>> before) {
        return place(devices(names), before);
    }

    private TreeMap<Integer, List<Device>> place(List<Device> devices, TreeMap<Integer, List<Device>> before) {
        return new OrderedArrangement(LIMIT, SliceIndexes.without(taken)).place(devices, before);
    }

    private static Set<Integer> changed(TreeMap<Integer, List<Device>> before, TreeMap<Integer, List<Device>> after) {
        Set<Integer> all = new HashSet<>(before.keySet());
        all.addAll(after.keySet());
        all.removeIf(index -> before.getOrDefault(index, List.of()).equals(after.get(index)));
        return all;
    }

    @ParameterizedTest(name = "{0}")
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/runtime/internal/publish/plan/arrangements.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void fewestSlicesChange(String name, String before, String devices, String after, int changes) {
        TreeMap<Integer, List<Device>> old = slices(before);

        TreeMap<Integer, List<Device>> placed = place(devices, old);

        assertThat(brief(placed)).isEqualTo(after);
        assertThat(changed(old, placed)).hasSize(changes);
    }

    @Test
    void devicesKeepTheirSlicesWhenAllOfThemChange() {
        TreeMap<Integer, List<Device>> before = slices("abc def ghi");

        assertThat(place("xacyfzhi", before))
                .isEqualTo(new TreeMap<>(Map.of(
                        index(before, 0), devices("xac"),
                        index(before, 1), devices("yfz"),
                        index(before, 2), devices("hi"))));
    }

    private static int index(TreeMap<Integer, List<Device>> slices, int place) {
        return new ArrayList<>(slices.keySet()).get(place);
    }

    @Nested
    class ANewSlice {

        @Test
        void hasRoomOnBothSides() {
            TreeMap<Integer, List<Device>> before = slices("abc def");
            int low = index(before, 0);
            int high = index(before, 1);

            assertThat(place("abcxdef", before).get((low + high) / 2)).isEqualTo(devices("x"));
            assertThat(place("xabcdef", before).firstKey()).isEqualTo(low - SliceIndexes.STEP);
            assertThat(place("abcdefx", before).lastKey()).isEqualTo(high + SliceIndexes.STEP);
        }

        @Test
        void hasNoIndexThatIsTaken() {
            TreeMap<Integer, List<Device>> before = slices("abc def");
            int low = index(before, 0);
            int high = index(before, 1);
            taken = Set.of((low + high) / 2, high + SliceIndexes.STEP, low - SliceIndexes.STEP);

            for (String devices : List.of("xabcdef", "abcxdef", "abcdefx")) {
                TreeMap<Integer, List<Device>> after = place(devices, before);

                assertThat(changed(before, after)).hasSize(1).doesNotContainAnyElementsOf(taken);
                assertThat(brief(after).replace(" ", "")).isEqualTo(devices);
            }
        }

        @Test
        void takesTheLastIndexThatIsLeft() {
            TreeMap<Integer, List<Device>> before = numbered(Map.of(10, "abc", 14, "def"));
            taken = Set.of(11, 12);

            assertThat(place("abcxdef", before).get(13)).isEqualTo(devices("x"));
        }

        @Test
        void movesItsNeighboursIfNoIndexIsLeft() {
            TreeMap<Integer, List<Device>> before = numbered(Map.of(10, "abc", 11, "def", 12, "gh", 20, "i"));

            TreeMap<Integer, List<Device>> after = place("abcxdefghi", before);

            assertThat(brief(after)).isEqualTo("abc xde fgh i");
            assertThat(after.keySet()).isEqualTo(before.keySet());
        }

        @Test
        void findsAPlaceSixteenTimesBetweenTheSame() {
            TreeMap<Integer, List<Device>> slices = slices("abc def");
            List<Device> devices = new ArrayList<>(devices("abcdef"));
            for (int i = 0; i < 16; i++) {
                for (int j = 0; j < LIMIT; j++) {
                    devices.add(LIMIT, Device.builder("new-" + i + "-" + j).build());
                }
                TreeMap<Integer, List<Device>> before = slices;
                slices = place(devices, before);
                assertThat(changed(before, slices)).hasSize(1);
            }
        }

        private static TreeMap<Integer, List<Device>> numbered(Map<Integer, String> slices) {
            TreeMap<Integer, List<Device>> numbered = new TreeMap<>();
            slices.forEach((index, names) -> numbered.put(index, devices(names)));
            return numbered;
        }
    }

    @Nested
    class Indexes {

        private static final int HUGE = 100_000;

        @Test
        void ofMoreSlicesThanStepsAreStillDifferentAndInOrder() {
            List<Integer> first =
                    SliceIndexes.without(Set.of(7, 8)).between(SliceIndexes.BEGIN, SliceIndexes.END, HUGE);

            assertThat(new TreeSet<>(first)).hasSize(HUGE).containsExactlyElementsOf(first);
            assertThat(first).allMatch(index -> index >= 0 && index <= SliceIndexes.LAST);
        }

        @Test
        void thatAreFreeAreCounted() {
            SliceIndexes indexes = SliceIndexes.without(Set.of(3, 5, 9));

            assertThat(indexes.freeBetween(3, 9)).isEqualTo(4);
            assertThat(indexes.freeBetween(4, 5)).isZero();
            assertThat(indexes.between(3, 9, 4)).containsExactly(4, 6, 7, 8);
            assertThat(indexes.between(2, 10, 2)).containsExactly(4, 7);
        }
    }
}

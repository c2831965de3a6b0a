// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.publish.plan.OrderedArrangement.SliceIndexes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SliceDiffTest {

    private static final Placement NODE = new Placement.ThisNode();
    private static final Instant BEGAN = Instant.parse("2026-11-20T10:00:00Z");

    private static Content content(long generation, long count, Device... devices) {
        return new Content(new PoolName("node-a"), generation, count, NODE, List.of(devices), List.of());
    }

    private static Device gpu(String name) {
        return Device.builder(name).build();
    }

    private static Stored stored(int index, Content content) {
        String name = "000000" + index + "-driver-node-a-abcde";
        return new Stored(name, "uid" + index, "1", true, content);
    }

    private static List<PlannedSlice> plan(Device... onePerSlice) {
        return Stream.of(onePerSlice)
                .map(d -> new PlannedSlice(List.of(onePerSlice).indexOf(d), content(0, 0, d)))
                .toList();
    }

    private static List<String> diff(List<Stored> existing, List<PlannedSlice> plan) {
        return SliceDiff.between(existing, plan).stream()
                .map(SliceDiffTest::text)
                .toList();
    }

    private static String text(SliceWrite write) {
        if (write instanceof SliceWrite.Delete delete) {
            return "delete " + delete.slice().uid();
        } else if (write instanceof SliceWrite.Update update) {
            return "update " + update.slice().uid() + text(update.content());
        } else if (write instanceof SliceWrite.Create create) {
            return "create " + create.index() + text(create.content());
        }
        throw new AssertionError(write);
    }

    private static String text(Content content) {
        return " g" + content.generation() + " of " + content.sliceCount();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', emptyValue = "", textBlock = """
            a new pool begins with the first  | ''             | a b   | create 0 g1 of 2, create 1 g1 of 2
            nothing differs                   | a4/2 b4/2      | a b   | ''
            one changes in the generation     | a4/2 b4/2      | a c   | update uid1 g4 of 2
            two begin one, and all are written| a4/3 b4/3 c4/3 | x y c | update uid0 g5 of 3, update uid1 g5 of 3, update uid2 g5 of 3
            fewer begin one                   | a4/2 b4/2      | a     | delete uid1, update uid0 g5 of 1
            more begin one                    | a4/2 b4/2      | a b c | update uid0 g5 of 3, update uid1 g5 of 3, create 2 g5 of 3
            a missing one is made again in it | - b4/2         | a b   | create 0 g4 of 2
            an interrupted change is finished | a4/3 b5/3 c5/3 | x y z | update uid1 g5 of 3, update uid2 g5 of 3, update uid0 g5 of 3
            """)
    void aGenerationStaysOrANewOneBegins(String name, String existing, String planned, String writes) {
        List<Stored> slices = new ArrayList<>();
        String[] each = existing.split(" ");
        for (int i = 0; i < each.length; i++) {
            if (each[i].contains("/")) { // device, generation, count of slices
                String[] numbers = each[i].substring(1).split("/");
                slices.add(stored(
                        i,
                        content(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), gpu(each[i].substring(0, 1)))));
            }
        }
        Device[] plan = Stream.of(planned.split(" ")).map(SliceDiffTest::gpu).toArray(Device[]::new);

        assertThat(String.join(", ", diff(slices, plan(plan)))).isEqualTo(writes);
    }

    @Nested
    class Matching {

        @Test
        void aSliceOfAForeignNameIsReplaced() {
            Stored foreign = new Stored("other", "uid9", "1", true, content(3, 1, gpu("a")));

            assertThat(diff(List.of(foreign), plan(gpu("a")))).containsExactly("delete uid9", "create 0 g4 of 1");
        }

        @Test
        void slicesOfTheGoHelperAreTakenOverInTheirOrder() {
            List<String> names = List.of("00000-node-x", "0000080-y", "00001-node-z", "0000180-a", "1000000-b");
            assertThat(names).isSorted();
            List<Stored> slices = names.stream()
                    .map(name -> new Stored(name, name, "1", true, content(3, 5)))
                    .toList();

            List<PlannedSlice> adopted = PlannedSlice.adopt(slices);

            assertThat(adopted)
                    .extracting(PlannedSlice::index)
                    .containsExactly(0, 0x80, 0x100, 0x180, SliceIndexes.FIRST);
            assertThat(SliceDiff.between(slices, adopted)).isEmpty();
        }

        @Test
        void aSecondSliceInOnePlaceIsDeleted() {
            Stored second = new Stored("0000000-driver-z", "uid9", "1", true, content(3, 1, gpu("a")));

            assertThat(diff(List.of(second, stored(0, content(3, 1, gpu("a")))), plan(gpu("a"))))
                    .containsExactly("delete uid9");
        }

        @Test
        void aSliceOfAnEarlierNodeIsTakenOver() {
            Stored old = stored(0, content(3, 1, gpu("a")));
            Stored notOurs = new Stored(old.name(), old.uid(), "1", false, old.content());

            assertThat(diff(List.of(notOurs), plan(gpu("a")))).containsExactly("update uid0 g3 of 1");
        }

        @Test
        void aPoolThatLeavesTheNodeIsMadeAgainSinceNodeNamesNeverChange() {
            Content everywhere =
                    new Content(new PoolName("node-a"), 0, 0, new Placement.AllNodes(), List.of(gpu("a")), List.of());

            assertThat(diff(List.of(stored(0, content(3, 1, gpu("a")))), List.of(new PlannedSlice(0, everywhere))))
                    .containsExactly("delete uid0", "create 0 g4 of 1");
        }

        @Test
        void aWithdrawnPoolIsDeleted() {
            assertThat(diff(List.of(stored(0, content(3, 1, gpu("a")))), List.of()))
                    .containsExactly("delete uid0");
        }
    }

    @Nested
    class TaintsWithoutATime {

        private Device tainted(String name, String value, Instant began) {
            return Device.builder(name)
                    .taint(new Taint("example.com/bad", value, Taint.Effect.NO_EXECUTE, began))
                    .build();
        }

        @Test
        void equalThoseThatTheServerDated() {
            List<Stored> existing = List.of(stored(0, content(1, 1, tainted("a", "v", BEGAN))));

            assertThat(diff(existing, plan(tainted("a", "v", null)))).isEmpty();
        }

        @Test
        void keepTheTimeWhenTheSliceIsWrittenForAnotherReason() {
            Stored existing = stored(0, content(1, 1, tainted("a", "v", BEGAN), gpu("b")));
            List<PlannedSlice> plan = List.of(new PlannedSlice(0, content(0, 0, tainted("a", "v", null))));

            assertThat(SliceDiff.between(List.of(existing), plan))
                    .containsExactly(new SliceWrite.Update(existing, content(1, 1, tainted("a", "v", BEGAN))));
        }

        @Test
        void beginAgainWithAnotherValue() {
            Stored existing = stored(0, content(1, 1, tainted("a", "v", BEGAN)));
            List<PlannedSlice> plan = List.of(new PlannedSlice(0, content(0, 0, tainted("a", "w", null))));

            assertThat(SliceDiff.between(List.of(existing), plan))
                    .containsExactly(new SliceWrite.Update(existing, content(1, 1, tainted("a", "w", null))));
        }
    }
}

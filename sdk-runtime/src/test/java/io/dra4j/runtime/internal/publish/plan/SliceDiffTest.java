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
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

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
        return SliceDiff.between(existing, plan, TaintTimes.none()).stream()
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

    /** A slice by its device, generation and count of slices, and whose it is if it is not this node's own. */
    private static Stored stored(int index, String text) {
        String[] parts = text.substring(1).split("[/:]");
        Content content = content(Long.parseLong(parts[0]), Long.parseLong(parts[1]), gpu(text.substring(0, 1)));
        String whose = parts.length == 2 ? "own" : parts[2];
        assertThat(whose).isIn("own", "foreign", "earlier-node's");
        return new Stored(
                whose.equals("foreign") ? "other" : stored(index, content).name(),
                "uid" + index,
                "1",
                !whose.equals("earlier-node's"),
                content);
    }

    private static PlannedSlice planned(int index, String text) {
        String[] parts = text.split(":");
        Placement placement = parts.length == 1 ? NODE : new Placement.AllNodes();
        return new PlannedSlice(
                index, new Content(new PoolName("node-a"), 0, 0, placement, List.of(gpu(parts[0])), List.of()));
    }

    /** Those of the words that say something, each with its place among them. */
    private static <T> List<T> each(String words, BiFunction<Integer, String, T> making) {
        String[] all = words.split(" ");
        return IntStream.range(0, all.length)
                .filter(i -> all[i].matches("\\w.*"))
                .mapToObj(i -> making.apply(i, all[i]))
                .toList();
    }

    @ParameterizedTest(name = "{0}")
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/runtime/internal/publish/plan/slice-diffs.csv",
            delimiter = '|',
            quoteCharacter = '"')
    void writesWhatDiffers(String name, String existing, String planned, String writes) {
        assertThat(String.join(
                        ", ", diff(each(existing, SliceDiffTest::stored), each(planned, SliceDiffTest::planned))))
                .isEqualTo(writes);
    }

    @Nested
    class Matching {

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
            assertThat(SliceDiff.between(slices, adopted, TaintTimes.none())).isEmpty();
        }

        @Test
        void aSecondSliceInOnePlaceIsDeleted() {
            Stored second = new Stored("0000000-driver-z", "uid9", "1", true, content(3, 1, gpu("a")));

            assertThat(diff(List.of(second, stored(0, content(3, 1, gpu("a")))), plan(gpu("a"))))
                    .containsExactly("delete uid9");
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

            assertThat(SliceDiff.between(List.of(existing), plan, TaintTimes.none()))
                    .containsExactly(new SliceWrite.Update(existing, content(1, 1, tainted("a", "v", BEGAN))));
        }

        @Test
        void beginAgainWithAnotherValue() {
            Stored existing = stored(0, content(1, 1, tainted("a", "v", BEGAN)));
            List<PlannedSlice> plan = List.of(new PlannedSlice(0, content(0, 0, tainted("a", "w", null))));

            assertThat(SliceDiff.between(List.of(existing), plan, TaintTimes.none()))
                    .containsExactly(new SliceWrite.Update(existing, content(1, 1, tainted("a", "w", null))));
        }
    }
}

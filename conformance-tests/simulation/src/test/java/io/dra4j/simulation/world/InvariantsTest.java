// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.world.ClaimScheduler.Wish;
import io.dra4j.simulation.world.Violation.Invariant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The smallest histories that break an invariant. */
class InvariantsTest extends WorldFixture {

    /** A history, and what it breaks. */
    private static Arguments breaks(Invariant invariant, String history, Consumer<InvariantsTest> steps) {
        return Arguments.of(invariant, history, steps);
    }

    private static Stream<Arguments> wrongHistories() {
        return Stream.of(wrongAnswers(), wrongClears(), wrongEnds(), wrongRecords(), wrongStates())
                .flatMap(some -> some);
    }

    private static Stream<Arguments> wrongAnswers() {
        return Stream.of(
                breaks(Invariant.EXCLUSIVE, "two claims are answered with one device", t -> {
                    t.running(Wish.PLAIN);
                    t.scheduler.createInConflict(List.of(Wish.PLAIN));
                    sleep(3);
                }),
                breaks(Invariant.EXCLUSIVE, "two records have one device", t -> {
                    t.running(Wish.MODE);
                    t.putRecord(new ClaimRef("default", "other", "other"), List.of(device("mode-0")));
                    t.invariants.killed();
                }),
                breaks(Invariant.EXCLUSIVE, "hardware is set for two claims", t -> {
                    t.set("one");
                    t.set("other");
                    t.invariants.killed();
                }),
                breaks(Invariant.PROVIDER_CALLS, "two calls for one claim", t -> {
                    t.hardware.enter("one");
                    t.hardware.enter("other");
                    t.invariants.killed();
                    t.hardware.enter("one");
                    t.invariants.killed();
                }),
                breaks(Invariant.SPEC_THERE, "a spec without devices", t -> t.answer(t.running(Wish.MODE), "{}")),
                breaks(Invariant.SPEC_THERE, "a spec is cut", t -> t.answer(t.running(Wish.PLAIN), "{\"kind\":")),
                breaks(Invariant.SPEC_THERE, "containers do not find out what they have", t -> {
                    HeldDevice half = device("part-0-half-0");
                    write(t.driver.files.spec("one"), StandIn.spec(ref("one"), List.of(half)));
                    t.invariants.prepared(ref("one"), List.of(StandIn.device(ref("one"), half)));
                }),
                breaks(Invariant.AS_NAMED, "other hardware than the slice named", t -> {
                    Pod pod = t.running(Wish.MODE);
                    t.invariants.allocated(uid(pod), Map.of("mode-0", "UUID-2"));
                    t.answer(
                            pod, t.driver.files.specText(uid(pod)).orElseThrow().replace("any", "UUID-3 default"));
                }),
                breaks(Invariant.HARDWARE_SET, "hardware is not set", t -> {
                    Pod pod = t.running(Wish.MODE);
                    t.clear(uid(pod));
                    t.answer(pod, t.driver.files.specText(uid(pod)).orElseThrow());
                }),
                breaks(Invariant.SPEC_THERE, "a spec goes away", t -> {
                    Path spec = t.driver.files.spec(uid(t.running(Wish.PLAIN)));
                    assertThat(spec.toFile().delete()).isTrue();
                    t.invariants.killed();
                }),
                breaks(Invariant.SPEC_THERE, "a spec is another one", t -> {
                    write(t.driver.files.spec(uid(t.running(Wish.PLAIN))));
                    t.invariants.killed();
                }),
                breaks(Invariant.SAME_ANSWER, "another answer", t -> {
                    Pod pod = t.running(Wish.PLAIN);
                    t.invariants.prepared(pod.claims().get(0), List.of());
                }));
    }

    private static Stream<Arguments> wrongClears() {
        return Stream.of(
                breaks(Invariant.HARDWARE_SET, "a claim that is prepared is cleared", t -> {
                    String uid = uid(t.running(Wish.MODE));
                    t.driver.journal.forget(uid);
                    t.clearChecked(uid);
                }),
                breaks(Invariant.HARDWARE_SET, "a claim of a pod that runs is cleared", t -> {
                    String uid = uid(t.running(Wish.MODE));
                    t.driver.journal.forget(uid);
                    t.invariants.forgotten(uid);
                    t.clearChecked(uid);
                }),
                breaks(Invariant.HARDWARE_SET, "a claim that is recorded as prepared is cleared", t -> {
                    String uid = uid(t.running(Wish.MODE));
                    t.invariants.unprepareBegins(uid);
                    t.clearChecked(uid);
                }));
    }

    private static Stream<Arguments> wrongEnds() {
        return Stream.of(
                breaks(Invariant.NOTHING_LEFT, "a record stays", t -> t.end(uid -> t.putRecord(ref(uid), List.of()))),
                breaks(Invariant.NOTHING_LEFT, "a spec stays", t -> t.end(uid -> write(t.driver.files.spec(uid)))),
                breaks(Invariant.NOTHING_LEFT, "a report stays", t -> {
                    write(t.path("/var/lib/kubelet/plugins/sim.example.com/reports/one.json"));
                    t.quiet();
                }),
                breaks(Invariant.NOTHING_LEFT, "hardware stays set", t -> t.end(t::set)),
                breaks(Invariant.NOTHING_LEFT, "a prepare that was overtaken is done", t -> {
                    String uid = uid(t.running(Wish.MODE));
                    t.invariants.prepareBegins(uid, Simulation.process());
                    t.invariants.unprepareBegins(uid);
                    t.invariants.unprepared(uid, Simulation.process());
                    t.invariants.prepareEnds(uid, Simulation.process());
                    sleep(1);
                }),
                breaks(Invariant.NOTHING_LEFT, "hardware is set for no claim", t -> {
                    t.set("one");
                    t.quiet();
                }));
    }

    private static Stream<Arguments> wrongRecords() {
        return Stream.of(
                breaks(Invariant.RECORDED, "a claim that is recorded as prepared is not set", t -> {
                    t.clear(uid(t.running(Wish.MODE)));
                    t.invariants.killed();
                }),
                breaks(Invariant.RECORDED, "a power failure takes back the record of an answer", t -> {
                    t.driver.journal.forget(uid(t.running(Wish.PLAIN)));
                    t.kubelet.powerOff();
                }),
                breaks(Invariant.RECORDED, "hardware is set before its record is durable", t -> {
                    t.set("one");
                    t.invariants.durable();
                }),
                breaks(Invariant.LIVENESS, "slices are owned by a node that is gone", t -> {
                    t.admin.deleteNode();
                    t.admin.createNode();
                    t.quiet();
                }),
                breaks(Invariant.LIVENESS, "a pod runs by a record of an earlier boot", t -> {
                    t.running(Wish.PLAIN);
                    t.boot("next");
                    t.quiet();
                }),
                breaks(Invariant.RECORDED, "the journal is damaged", t -> {
                    Path journal = t.path("/var/lib/kubelet/plugins/sim.example.com/claims.journal");
                    write(journal, "{}\n");
                    t.invariants.killed();
                }));
    }

    private static Stream<Arguments> wrongStates() {
        return Stream.of(
                breaks(Invariant.LIVENESS, "a pod waits for ever", t -> {
                    t.driver.before = () -> {
                        throw new IllegalStateException("refused");
                    };
                    t.scheduler.create(List.of(Wish.PLAIN));
                    sleep(60);
                    t.quiet();
                }),
                breaks(Invariant.LIVENESS, "a record of no pod", t -> {
                    t.putRecord(ref("one"), List.of(device("plain-0")));
                    t.quiet();
                }),
                breaks(Invariant.LIVENESS, "a device is not published", t -> {
                    t.hardware.present("mode-1", false);
                    t.driver.publishSlice();
                    t.hardware.present("mode-1", true);
                    t.quiet();
                }),
                breaks(Invariant.LIVENESS, "a taint stays", t -> {
                    t.api.changeUnchecked(
                            "resourceslices",
                            "",
                            "slice",
                            slice -> ((ObjectNode) slice.at("/spec/devices/0"))
                                    .withArray("taints")
                                    .addObject()
                                    .put("key", "sim.example.com/maintenance"));
                    t.quiet();
                }),
                breaks(Invariant.UNCHANGED, "a file is written", t -> {
                    Snapshot before = t.invariants.snapshot();
                    write(t.path("/var/run/cdi/any.json"));
                    t.invariants.unchanged(before);
                }),
                breaks(Invariant.UNCHANGED, "an object is written", t -> {
                    Snapshot before = t.invariants.snapshot();
                    t.scheduler.create(List.of(Wish.PLAIN));
                    t.invariants.unchanged(before);
                }),
                breaks(Invariant.WRITES, "a status is lost", t -> {
                    ObjectNode claim = (ObjectNode) t.claim(t.running(Wish.MODE));
                    ((ObjectNode) claim.get("status")).remove("devices");
                    t.api.put(claim);
                    t.quiet();
                }),
                breaks(Invariant.WRITES, "a generation goes back", t -> {
                    JsonNode slice = t.api.list("resourceslices").get(0);
                    ObjectNode older = slice.deepCopy();
                    older.withObject("/metadata").put("name", "older");
                    older.withObject("/spec/pool").put("generation", 0);
                    t.invariants.sliceWritten(null, slice);
                    t.invariants.sliceWritten(null, older);
                    t.invariants.killed();
                }));
    }

    private static Stream<Arguments> wrongPools() {
        return Stream.of(
                breaks(Invariant.WRITES, "a complete pool has each device twice", t -> {
                    t.sliceWritten(
                            "first", slice -> slice.withObject("/spec/pool").put("resourceSliceCount", 2));
                    t.sliceWritten(
                            "second", slice -> slice.withObject("/spec/pool").put("resourceSliceCount", 2));
                    t.invariants.killed();
                }),
                breaks(Invariant.WRITES, "a complete pool lacks a counter set", t -> {
                    t.sliceWritten(
                            "one",
                            slice -> ((ObjectNode) slice.at("/spec/devices/0"))
                                    .withArray("consumesCounters")
                                    .addObject()
                                    .put("counterSet", "part-0"));
                    t.invariants.killed();
                }),
                breaks(Invariant.WRITES, "a complete pool has devices of two times", t -> {
                    String replaced = t.hardware.uuid("mode-0");
                    t.hardware.replace("mode-0");
                    t.hardware.replace("mode-1");
                    t.driver.publishSlice();
                    t.sliceWritten("one", slice -> rename(slice, replaced));
                    t.invariants.killed();
                }));
    }

    private static void rename(JsonNode slice, String uuid) {
        for (JsonNode device : slice.at("/spec/devices")) {
            if (device.path("name").asText().equals("mode-0")) {
                ((ObjectNode) device.at("/attributes/uuid")).put("string", uuid);
            }
        }
    }

    /** Notes a slice that is like the one that there is, but for a change. */
    private void sliceWritten(String name, Consumer<ObjectNode> change) {
        ObjectNode slice = api.list("resourceslices").get(0).deepCopy();
        slice.withObject("/metadata").put("name", name);
        change.accept(slice);
        invariants.sliceWritten(null, slice);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource({"wrongHistories", "wrongPools"})
    void findsWhatIsWrong(Invariant invariant, String history, Consumer<InvariantsTest> steps) {
        assertThatThrownBy(() -> run(() -> steps.accept(this)))
                .asInstanceOf(type(Violation.class))
                .extracting(Violation::invariant)
                .isEqualTo(invariant);
    }

    /** Answers for a pod, with another spec than the right one, if one is given. */
    private void answer(Pod pod, String spec) {
        ClaimRef ref = pod.claims().get(0);
        HeldDevice device = Invariants.held(claim(pod).at("/status/allocation/devices/results/0"));
        invariants.forgotten(ref.uid());
        write(driver.files.spec(ref.uid()), spec.isEmpty() ? StandIn.spec(ref, List.of(device)) : spec);
        invariants.prepared(ref, List.of(StandIn.device(ref, device)));
    }

    private void set(String claim) {
        try {
            for (Hardware.Setting setting : hardware.needs(device("mode-2"), claim)) {
                hardware.set(setting);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void clearChecked(String claim) {
        hardware.afterEachClear(invariants::cleared);
        clear(claim);
        sleep(1);
    }

    private static HeldDevice device(String name) {
        return HeldDevice.builder("one", new PoolName(SITE.node()), new DeviceName(name))
                .build();
    }

    private static ClaimRef ref(String uid) {
        return new ClaimRef("default", "claim", uid);
    }

    private void putRecord(ClaimRef ref, List<HeldDevice> devices) {
        driver.journal.put(
                new ClaimRecord(ref, HeldClaim.Phase.PREPARING, "any", devices, null, null, null, null, null));
    }
}

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
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.schedule.Trace;
import io.dra4j.simulation.world.ClaimScheduler.Wish;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.simulation.world.Violation.Invariant;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The surroundings of a driver, with one in few lines; and the smallest histories that break an invariant. */
class WorldTest {

    private static final Site SITE = new Site("sim.example.com", "node-1");

    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().version(KubernetesVersion.V1_34).start();
    private final ClusterObjects api = server.store();
    private final Hardware hardware = new Hardware(SITE.driver(), SITE.node());
    private Invariants invariants;
    private StandIn driver;
    private ClaimScheduler scheduler;
    private Kubelet kubelet;
    private Administrator admin;

    @TempDir
    private Path root;

    @BeforeEach
    void make() throws IOException {
        invariants = new Invariants(SITE, api, server.featureGates(), this::path, hardware);
        driver =
                new StandIn(SITE, api, invariants.files(), path("/var/lib/kubelet/plugins/" + SITE.driver()), hardware);
        scheduler = new ClaimScheduler(SITE, api, server.featureGates(), pod -> kubelet.run(pod));
        kubelet = new Kubelet(SITE, api, invariants, scheduler::release);
        admin = new Administrator(SITE, api, this::path);
        boot("any");
    }

    private void boot(String id) {
        write(path("/proc/sys/kernel/random/boot_id"), id);
    }

    @AfterEach
    void close() {
        driver.close();
        server.close();
    }

    private Path path(String absolute) {
        return root.resolve(absolute.substring(1));
    }

    private void run(Runnable history) throws Throwable {
        Simulation.run(1, new Trace(0), () -> {
            admin.createNode();
            scheduler.start();
            kubelet.start();
            sleep(1); // it wipes the slices that there are
            publish();
            history.run();
        });
    }

    private Process publish() {
        Process process = Simulation.newProcess("driver", this);
        Simulation.start(process, "main", () -> {
            driver.publishSlice();
            kubelet.publish(driver);
        });
        sleep(1);
        return process;
    }

    private static void sleep(int seconds) {
        Simulation.await(() -> false, Duration.ofSeconds(seconds).toNanos());
    }

    private Pod running(Wish... wishes) {
        Pod pod = scheduler.create(List.of(wishes));
        sleep(3);
        assertThat(pod.phase()).as("%s", pod).isEqualTo(Pod.Phase.RUNNING);
        return pod;
    }

    private JsonNode claim(Pod pod) {
        ClaimRef ref = pod.claims().get(0);
        return api.find("resourceclaims", ref.namespace(), ref.name()).orElseThrow();
    }

    @Test
    void runsPodsOneAfterTheOtherWhereDevicesAreFew() throws Throwable {
        run(() -> {
            Pod two = running(Wish.TWO_MODES, Wish.PLAIN);
            Pod third = running(Wish.CONFIGURED, Wish.ADMIN);
            Pod waits = scheduler.create(List.of(Wish.TWO_MODES));
            Pod twin = scheduler.createWithClaimsOf(two);
            sleep(60);
            assertThat(waits.phase()).isEqualTo(Pod.Phase.UNSCHEDULED);
            assertThat(twin.phase()).isEqualTo(Pod.Phase.RUNNING);
            assertThat(hardware.settings()).hasSize(3);
            scheduler.end(two);
            sleep(60);
            assertThat(waits.phase()).isEqualTo(Pod.Phase.UNSCHEDULED);
            scheduler.end(twin);
            sleep(60);
            assertThat(waits.phase()).isEqualTo(Pod.Phase.RUNNING);
            invariants.quiet(scheduler.pods());
            admin.drain(scheduler);
            sleep(60);
            invariants.quiet(scheduler.pods());
            assertThat(scheduler.pods()).allMatch(pod -> pod.phase() == Pod.Phase.GONE);
            assertThat(third.isEnded()).isTrue();
            assertThat(api.list("resourceclaims")).isEmpty();
            assertThat(invariants.answers()).isPositive();
        });
    }

    @Test
    void choosesDevicesFromSlicesAsTheyWereForSomeMinutes() throws Throwable {
        Set<String> chosen = new TreeSet<>();
        run(() -> {
            scheduler.afterEachAllocation((uid, hardware) -> chosen.add(hardware.get("plain-0")));
            running(Wish.ADMIN);
            hardware.swap("plain-0", "plain-1");
            driver.publishSlice();
            for (int i = 0; i < 60; i++) {
                running(Wish.ADMIN);
                if (i == 30) {
                    assertThat(chosen).containsExactly("UUID-0", "UUID-1");
                    sleep(600);
                    chosen.clear();
                }
            }
        });
        assertThat(chosen).containsExactly("UUID-1");
    }

    private void hangOnce() {
        driver.before = () -> {};
        sleep(50);
    }

    @Test
    void givesACallUpAndTriesAgainLater() throws Throwable {
        run(() -> {
            driver.before = this::hangOnce;
            Pod pod = scheduler.create(List.of(Wish.MODE));
            sleep(47);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.WAITING);
            sleep(20);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.RUNNING);
            assertThat(driver.calls).startsWith("prepare", "prepare");
        });
    }

    @Test
    void givesAPrepareUpWhenThePodEnds() throws Throwable {
        run(() -> {
            driver.before = this::hangOnce;
            Pod pod = scheduler.create(List.of(Wish.MODE));
            sleep(10);
            scheduler.end(pod);
            sleep(5);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.GONE);
            assertThat(driver.calls).containsExactly("prepare", "unprepare");
        });
    }

    @Test
    void seesTwoCallsOfASerializedProvider() throws Throwable {
        run(() -> {
            Hardware serialized = new Hardware(SITE.driver(), SITE.node(), true);
            serialized.enter("one");
            serialized.enter("other");
            assertThat(serialized.misuses()).hasSize(1);
        });
    }

    @Test
    void deletesTheSlicesOfADriverThatIsAwayForLong() throws Throwable {
        run(() -> {
            kubelet.withdraw(driver);
            sleep(29);
            kubelet.publish(driver);
            sleep(29);
            assertThat(api.list("resourceslices")).isNotEmpty();
            kubelet.withdraw(driver);
            sleep(31);
            assertThat(api.list("resourceslices")).isEmpty();
        });
    }

    @Test
    void preparesAgainAfterARebootAndForgetsWithoutItsFile() throws Throwable {
        run(() -> {
            Pod pod = running(Wish.MODE);
            kubelet.powerOff();
            hardware.reboot();
            kubelet.start();
            publish();
            sleep(20);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.RUNNING);
            int before = driver.calls.size();
            kubelet.restart();
            sleep(20);
            assertThat(driver.calls).hasSize(before);
            kubelet.loseState();
            scheduler.end(pod);
            sleep(20);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.GONE);
            assertThat(driver.calls).doesNotContain("unprepare");
        });
    }

    /** A history, and what it breaks. */
    private static Arguments breaks(Invariant invariant, String history, Consumer<WorldTest> steps) {
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
    void findsWhatIsWrong(Invariant invariant, String history, Consumer<WorldTest> steps) {
        assertThatThrownBy(() -> run(() -> steps.accept(this)))
                .asInstanceOf(type(Violation.class))
                .extracting(Violation::invariant)
                .isEqualTo(invariant);
    }

    private void quiet() {
        invariants.quiet(scheduler.pods());
    }

    /** Answers for a pod, with another spec than the right one, if one is given. */
    private void answer(Pod pod, String spec) {
        ClaimRef ref = pod.claims().get(0);
        HeldDevice device = Invariants.held(claim(pod).at("/status/allocation/devices/results/0"));
        invariants.forgotten(ref.uid());
        write(driver.files.spec(ref.uid()), spec.isEmpty() ? StandIn.spec(ref, List.of(device)) : spec);
        invariants.prepared(ref, List.of(StandIn.device(ref, device)));
    }

    /** Ends a pod whose unprepare leaves something. */
    private void end(Consumer<String> leaves) {
        Pod pod = running(Wish.MODE);
        scheduler.end(pod);
        sleep(20);
        leaves.accept(uid(pod));
        invariants.unprepared(uid(pod), Simulation.process());
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

    private void clear(String claim) {
        try {
            for (Hardware.Setting setting : hardware.of(claim)) {
                hardware.clear(setting);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static HeldDevice device(String name) {
        return HeldDevice.builder("one", new PoolName(SITE.node()), new DeviceName(name))
                .build();
    }

    private static ClaimRef ref(String uid) {
        return new ClaimRef("default", "claim", uid);
    }

    private static String uid(Pod pod) {
        return pod.claims().get(0).uid();
    }

    private void putRecord(ClaimRef ref, List<HeldDevice> devices) {
        driver.journal.put(
                new ClaimRecord(ref, HeldClaim.Phase.PREPARING, "any", devices, null, null, null, null, null));
    }

    private static void write(Path file) {
        write(file, "any");
    }

    private static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

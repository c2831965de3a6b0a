// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.stubs.health.v1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1.HealthStatus;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Answers calls in an unusual way, or late. */
final class CallVariants {

    private CallVariants() {}

    /** A claim that can't be read fails the whole call, as in drivers on the Go helper. */
    @Variant(
            id = "H-4",
            what = "a claim that cannot be read fails the whole call",
            passes = {
                "DRA-PREP-08", "DRA-PREP-10", "DRA-PREP-11", "DRA-PREP-12",
                "DRA-PREP-18", "DRA-PREP-27", "DRA-UNP-07", "DRA-UNP-10"
            })
    static final class WholeReads extends ClaimWork {
        @Override
        ClaimOutcome prepare(ClaimId id) {
            try {
                return ClaimOutcome.of(devices(work(id)));
            } catch (StatusRuntimeException e) {
                throw e;
            } catch (RuntimeException e) {
                return ClaimOutcome.failed(message(e));
            }
        }

        @Override
        JsonNode fetch(ClaimId id) {
            try {
                JsonNode claim = super.fetch(id);
                checkUid(id, claim);
                checkAllocated(claim);
                return claim;
            } catch (Refused | ApiClient.Failed e) {
                throw Status.UNKNOWN.withDescription(e.getMessage()).asRuntimeException();
            }
        }
    }

    /** An error of one claim fails the whole call. */
    @Variant(
            id = "H-4b",
            what = "any fault of one claim fails the whole call",
            passes = {
                "DRA-PREP-09", "DRA-PREP-10", "DRA-PREP-11",
                "DRA-PREP-12", "DRA-PREP-16", "DRA-PREP-18",
                "DRA-PREP-27", "DRA-UNP-07", "DRA-UNP-10"
            })
    @Violation("DRA-PREP-08: failed the whole call")
    static final class WholeErrors extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            Map<String, ClaimOutcome> answers = super.prepare(version, claims);
            answers.values().forEach(answer -> none(answer.error()));
            return answers;
        }

        @Override
        Map<String, String> unprepare(String version, List<ClaimId> claims) {
            Map<String, String> answers = super.unprepare(version, claims);
            answers.values().forEach(WholeErrors::none);
            return answers;
        }

        private static void none(String error) {
            if (!error.isEmpty()) {
                throw Status.UNKNOWN.withDescription(error).asRuntimeException();
            }
        }
    }

    /** As slow as the kubelet just bears, for all claims of a call at once. */
    @Variant(
            id = "H-9a",
            what = "Prepare takes 20 s, and slices come after 25 s",
            with = SliceVariants.After25Seconds.class,
            passes = {
                "DRA-REG-03", "DRA-PREP-01", "DRA-PREP-07",
                "DRA-UNP-11", "DRA-SLICE-01", "DRA-SLICE-03",
                "DRA-PERF-01"
            },
            slow = true,
            from = Build.WHOLE)
    static final class SlowCalls extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            if (!claims.isEmpty()) {
                Pauses.millis(20_000);
            }
            return super.prepare(version, claims);
        }
    }

    /** Slow with each claim, one after the other. */
    @Variant(
            id = "H-9b",
            what = "Prepare takes 2 s, and slices come after 4 s",
            with = SliceVariants.After4Seconds.class,
            passes = {
                "DRA-REG-03", "DRA-PREP-01",
                "DRA-PREP-32", "DRA-SLICE-01",
                "DRA-SLICE-03"
            },
            slow = true,
            from = Build.FULL)
    static final class SlowWork extends ClaimWork {
        @Override
        JsonNode fetch(ClaimId id) {
            Pauses.millis(2_000);
            return super.fetch(id);
        }
    }

    /** Has no means to find out about health, and sends that once. */
    @Variant(
            id = "H-25",
            what = "the health of all devices is Unknown, which is sent once",
            passes = {"DRA-HLT-01", "DRA-HLT-05"},
            untested = {"DRA-HLT-03", "DRA-HLT-04"},
            from = Build.FULL)
    static final class UnknownOnce extends HealthReports {
        @Override
        void send(boolean changed) {}

        @Override
        DeviceHealth device(String pool, String name, String[] fault) {
            return super.device(pool, name, fault).toBuilder()
                    .setHealth(HealthStatus.UNKNOWN)
                    .build();
        }
    }

    /** Also of those that no slice has now: pods may have them. */
    @Variant(
            id = "H-62",
            what = "polls health every 10 s, and broken devices leave the slices",
            with = Polled.class,
            passes = {"DRA-HLT-01", "DRA-HLT-02", "DRA-HLT-05"},
            from = Build.FULL)
    static final class HealthOfAll extends HealthReports {
        @Override
        List<DeviceHealth> devices() {
            Map<String, String[]> faults = driver.inventory.faults();
            return IntStream.range(0, driver.inventory.size())
                    .mapToObj(index -> "gpu-" + index)
                    .map(name ->
                            device(driver.settings.node(), name, faults.getOrDefault(name, new String[] {name, ""})))
                    .toList();
        }
    }

    /** A device is published again one poll after it is known to be healthy. */
    static final class Polled extends Inventory {
        private static final long POLL = 10_000;

        private List<String> polled = List.of();
        private List<String> before = List.of();
        private long due = System.nanoTime();

        @Override
        synchronized List<String> faultLines() {
            if (System.nanoTime() > due) {
                before = polled;
                polled = super.faultLines();
                due = System.nanoTime() + POLL * 1_000_000;
            }
            return polled;
        }

        @Override
        synchronized Map<String, List<ObjectNode>> pools() {
            Map<String, List<ObjectNode>> pools = super.pools();
            pools.values().forEach(devices -> devices.removeIf(this::isBroken));
            return pools;
        }

        private boolean isBroken(ObjectNode device) {
            String line = device.path("name").asText() + " ";
            return Stream.concat(polled.stream(), before.stream()).anyMatch(each -> each.startsWith(line));
        }
    }

    @Variant(
            id = "H-37a",
            what = "health v1 alone",
            passes = {"DRA-HLT-01", "DRA-HLT-03", "DRA-HLT-05", "DRA-HLT-07", "DRA-INFO-05"},
            from = Build.FULL)
    static final class HealthV1Only extends HealthReports {
        @Override
        List<String> versions() {
            return List.of(V1);
        }
    }

    @Variant(
            id = "H-37b",
            what = "health v1alpha1 alone",
            passes = {"DRA-HLT-01", "DRA-HLT-03", "DRA-HLT-05", "DRA-INFO-05"},
            notApplicable = "DRA-HLT-07",
            from = Build.FULL)
    static final class HealthV1alpha1Only extends HealthReports {
        @Override
        List<String> versions() {
            return List.of(V1ALPHA1);
        }
    }
}

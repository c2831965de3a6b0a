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
    @Altered(id = "H-4")
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
    @Altered(id = "H-4b")
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
    @Altered(id = "H-9a", with = SliceVariants.After25Seconds.class)
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
    @Altered(id = "H-9b", with = SliceVariants.After4Seconds.class)
    static final class SlowWork extends ClaimWork {
        @Override
        JsonNode fetch(ClaimId id) {
            Pauses.millis(2_000);
            return super.fetch(id);
        }
    }

    /** Has no means to find out about health, and sends that once. */
    @Altered(id = "H-25")
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
    @Altered(id = "H-62", with = Polled.class)
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

    @Altered(id = "H-37a")
    static final class HealthV1Only extends HealthReports {
        @Override
        List<String> versions() {
            return List.of(V1);
        }
    }

    @Altered(id = "H-37b")
    static final class HealthV1alpha1Only extends HealthReports {
        @Override
        List<String> versions() {
            return List.of(V1ALPHA1);
        }
    }
}

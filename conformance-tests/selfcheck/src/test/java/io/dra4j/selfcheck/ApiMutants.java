// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.grpc.Context;
import io.grpc.Deadline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Mutants that read the claim wrongly, or work wrongly when that takes long or fails. */
final class ApiMutants {

    private ApiMutants() {}

    @Mutant(id = "M-28", what = "a claim that is not found is an empty success")
    @Violation("DRA-PREP-10: was prepared, although there is no such claim on the API")
    static final class MissingIsEmpty extends ClaimWork {
        @Override
        ObjectNode work(ClaimId id) {
            try {
                return super.work(id);
            } catch (ApiClient.Failed e) {
                if (e.status == 404) {
                    return Json.object();
                }
                throw e;
            }
        }
    }

    @Mutant(id = "M-29", what = "prepares any claim of the same name, with any UID")
    @Violation("DRA-PREP-11: was prepared, although the claim of that name has another")
    static final class AnyUid extends ClaimWork {
        @Override
        void checkUid(ClaimId id, JsonNode claim) {}
    }

    @Mutant(id = "M-30", what = "prepares an unallocated claim from its spec")
    @Violation("DRA-PREP-12: was prepared, although it has no allocation")
    static final class Unallocated extends ClaimWork {
        @Override
        void checkAllocated(JsonNode claim) {
            ArrayNode results = Json.array();
            var pool = driver.inventory.pools().entrySet().iterator().next();
            for (JsonNode request : claim.at("/spec/devices/requests")) {
                ObjectNode result = results.addObject().put("driver", driver.settings.driver());
                result.put("request", request.path("name").asText()).put("pool", pool.getKey());
                result.put("device", pool.getValue().get(0).path("name").asText());
            }
            if (claim.at("/status/allocation").isMissingNode()) {
                ((ObjectNode) claim).withObject("/status/allocation/devices").set("results", results);
            }
        }
    }

    /** A failure is forever. */
    @Mutant(
            id = "M-49",
            what = "remembers a failure, so that no retry succeeds",
            collateral = "DRA-RST-07",
            timeoutFactor = 0.3)
    @Violation("DRA-PREP-34: the prepare of a claim whose read had failed before failed:")
    static final class Resentful extends ClaimWork {
        private final Map<String, ClaimOutcome> failures = new ConcurrentHashMap<>();

        @Override
        ClaimOutcome prepare(ClaimId id) {
            ClaimOutcome known = failures.get(id.uid());
            ClaimOutcome answer = known == null ? super.prepare(id) : known;
            if (!answer.error().isEmpty()) {
                failures.put(id.uid(), answer);
            }
            return answer;
        }
    }

    @Mutant(id = "M-50", what = "waits for its slices to be published before it prepares")
    @Violation("DRA-PREP-33: a prepare, while the driver may not publish its devices,")
    static final class AfterPublishing extends ClaimWork {
        @Override
        JsonNode fetch(ClaimId id) {
            while (!driver.publisher.published && !Context.current().isCancelled()) {
                Pauses.millis(50);
            }
            return super.fetch(id);
        }
    }

    @Mutant(id = "M-51", what = "holds one lock while it reads a claim")
    @Violation("DRA-PREP-32: s waits for the API server, is not answered within")
    @Violation("DRA-UNP-11: an unprepare, while the prepare of another claim waits, is")
    static final class OneLock extends ClaimWork {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        ObjectNode work(ClaimId id) {
            lock.lock();
            try {
                return super.work(id);
            } finally {
                lock.unlock();
            }
        }

        @Override
        void undo(ClaimId id) {
            lock.lock();
            try {
                super.undo(id);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Writes the status as a whole, as if it were its own. */
    @Mutant(id = "M-97", what = "replaces all of status.devices", options = "--gpu-device-status", declares = "dst")
    @Violation("DRA-DST-01: after Prepare it is gone: entries belong to their drivers")
    static final class Replacing extends DeviceReports {
        @Override
        void write(JsonNode claim, ObjectNode held) {
            ObjectNode changed = driver.api.get(path(held)).deepCopy();
            ArrayNode devices = changed.withObject("/status").putArray("devices");
            held.path("devices").forEach(device -> devices.add(entry(device)));
            driver.api.put(path(held) + "/status", changed);
        }
    }

    @Mutant(id = "M-99", what = "reads the claim five times in a Prepare")
    @Violation("DRA-PERF-02: reads of the API server")
    static final class Insistent extends ClaimWork {
        @Override
        JsonNode fetch(ClaimId id) {
            for (int time = 1; time < 5; time++) {
                super.fetch(id);
            }
            return super.fetch(id);
        }
    }

    /** Makes a file of the UID's name before it knows whether that is one. */
    @Mutant(id = "M-101", what = "makes a file name of the raw UID")
    @Violation("DRA-SEC-02: a hostile UID, name or namespace reached files outside the")
    static final class RawUid extends ClaimWork {
        @Override
        ObjectNode work(ClaimId id) {
            Path folder = driver.settings.data().resolve("claims");
            try {
                Files.createDirectories(folder);
                Files.writeString(folder.resolve(id.uid()), id.name());
            } catch (IOException e) {
                throw new Refused("Can't write: " + e);
            }
            return super.work(id);
        }
    }

    @Mutant(id = "M-102", what = "puts the raw name into the API path", timeoutFactor = 0.3)
    @Violation("DRA-SEC-02: a hostile name or namespace altered the API path of a")
    static final class RawName extends ClaimWork {
        @Override
        void check(ClaimId id) {}
    }

    @Mutant(id = "M-104", what = "prints a token in an error")
    @Violation("DRA-SEC-04: an error contains the token of the driver")
    static final class Talkative extends ClaimWork {
        @Override
        String message(RuntimeException problem) {
            String message = super.message(problem);
            return problem instanceof ApiClient.Failed
                    ? message + " (Authorization: Bearer " + driver.api.token() + ")"
                    : message;
        }
    }

    /** Whoever was given up by the kubelet keeps the claim locked. */
    @Mutant(id = "M-110", what = "a cancelled Prepare keeps its lock forever")
    @Violation("DRA-PREP-31: a prepare that an earlier caller gave up failed: claim UID")
    static final class KeepsTheLock extends ClaimWork {
        private static final long NEARLY_OVER = 500;
        private final Set<String> busy = ConcurrentHashMap.newKeySet();

        @Override
        ObjectNode work(ClaimId id) {
            while (!busy.add(id.uid())) {
                if (givenUp()) {
                    throw new Refused("The claim is locked");
                }
                Pauses.millis(20);
            }
            ObjectNode held;
            try {
                held = super.work(id);
            } catch (Refused | ApiClient.Failed e) {
                if (!givenUp()) {
                    busy.remove(id.uid());
                }
                throw e;
            }
            if (!givenUp()) {
                busy.remove(id.uid());
            }
            return held;
        }

        private static boolean givenUp() {
            Deadline deadline = Context.current().getDeadline();
            return Context.current().isCancelled()
                    || deadline != null && deadline.timeRemaining(TimeUnit.MILLISECONDS) < NEARLY_OVER;
        }
    }

    /** Takes a record that a crash has left for another call at work. */
    @Mutant(
            id = "M-111",
            what = "a record that was left by a kill blocks the next Prepare",
            collateral = {"DRA-PREP-06", "DRA-UPG-02"})
    @Violation("DRA-RST-02: Preparation of the claim is in progress")
    @Violation("DRA-RST-10: Preparation of the claim is in progress")
    static final class InProgress extends ClaimWork {
        @Override
        ObjectNode work(ClaimId id) {
            check(id);
            boolean known = state.locked(() -> mark(id));
            try {
                return super.work(id);
            } catch (Refused | ApiClient.Failed e) {
                if (!known) {
                    state.locked(() -> unmark(id));
                }
                throw e;
            }
        }

        private boolean mark(ClaimId id) {
            Map<String, ObjectNode> held = new HashMap<>(held());
            ObjectNode known = held.get(id.uid());
            if (known != null && !known.path("done").asBoolean()) {
                throw new Refused("Preparation of the claim is in progress");
            }
            if (known == null) {
                ObjectNode intent = Json.object().put("uid", id.uid()).put("done", false);
                held.put(id.uid(), intent.put("name", id.name()));
                state.write(held);
            }
            return known != null;
        }

        private boolean unmark(ClaimId id) {
            Map<String, ObjectNode> held = new HashMap<>(held());
            held.remove(id.uid());
            state.write(held);
            return true;
        }
    }

    /** Looks at what is none of its business, too. */
    @Mutant(id = "M-120", what = "lists all claims and pods of the cluster")
    @Violation("DRA-SEC-05: the driver asks the API server for more than it needs")
    @Violation("DRA-PERF-02: one Prepare cost 3 reads")
    @Violation("DRA-SLICE-18: those of all nodes")
    static final class Curious extends ClaimWork {
        @Override
        void start() {
            super.start();
            look();
        }

        @Override
        JsonNode fetch(ClaimId id) {
            look();
            return super.fetch(id);
        }

        private void look() {
            for (String path : List.of(ApiClient.RESOURCE + "/resourceclaims", "/api/v1/pods")) {
                try {
                    driver.api.get(path);
                } catch (ApiClient.Failed e) {
                    Life.current().log(e.getMessage());
                }
            }
        }
    }

    /** As a client of HTTP/2 does which gives up streams alone. */
    @Mutant(id = "M-141", what = "never gives up a connection that is silent", timeoutFactor = 0.2)
    @Violation("DRA-PREP-37: while a prepare waited, and the claim is not prepared 36 s later")
    static final class OneConnection extends ApiClient {
        private static final long SILENCE = 15_000_000_000L;
        private volatile boolean silent;

        @Override
        JsonNode get(String path) {
            if (silent && path.contains("/resourceclaims/")) {
                throw new Failed(0, "GET failed: the connection is silent", Duration.ZERO);
            }
            long begin = System.nanoTime();
            try {
                return super.get(path);
            } catch (Failed e) {
                silent |= e.status == 0 && System.nanoTime() - begin > SILENCE;
                throw e;
            }
        }
    }

    @Mutant(id = "M-150", what = "reads the CA of the API server once", timeoutFactor = 0.2)
    @Violation("DRA-PREP-39: in the driver's files, too, and a claim is not prepared 12 s later")
    static final class FirstAuthority extends ApiClient {
        private final String first = super.authority();

        @Override
        String authority() {
            return first;
        }
    }

    @Mutant(
            id = "M-132a",
            what = "writes a status that was refused never again",
            collateral = "DRA-DST-01",
            options = "--gpu-device-status",
            declares = "dst",
            timeoutFactor = 0.3)
    @Violation("DRA-DST-02: a status that was refused with 403 was not written")
    static final class OnceOnly extends DeviceReports {
        @Override
        int tries() {
            return 1;
        }
    }

    /** Never prepares a claim of which it could not write the status. */
    @Mutant(
            id = "M-132b",
            what = "never prepares a claim of which it could not write the status",
            collateral = "DRA-DST-01",
            options = "--gpu-device-status",
            declares = "dst")
    @Violation("DRA-DST-02: status was refused with 403, and again when it no longer was")
    static final class Unforgiving extends DeviceReports {
        private final Set<String> refused = ConcurrentHashMap.newKeySet();

        @Override
        void report(JsonNode claim, ObjectNode held) {
            String uid = held.path("uid").asText();
            try {
                if (!refused.contains(uid)) {
                    write(claim, held);
                }
            } catch (ApiClient.Failed e) {
                refused.add(uid);
            }
            if (refused.contains(uid)) {
                throw new Refused("The status of the claim can't be written");
            }
        }
    }
}

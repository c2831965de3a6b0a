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

    @Altered(id = "M-28")
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

    @Altered(id = "M-30")
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

    @Altered(id = "M-265")
    static final class Strict extends ClaimWork {
        private static final Set<String> KNOWN = Set.of(
                "request", "driver", "pool", "device", "adminAccess", "tolerations", "shareID", "consumedCapacity");

        @Override
        boolean isOwn(JsonNode result) {
            result.fieldNames().forEachRemaining(field -> {
                if (!KNOWN.contains(field)) {
                    throw new Refused("The result has the unknown field " + field);
                }
            });
            return super.isOwn(result);
        }
    }

    /** A failure is forever. */
    @Altered(id = "M-49")
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

    @Altered(id = "M-50")
    static final class AfterPublishing extends ClaimWork {
        @Override
        JsonNode fetch(ClaimId id) {
            while (!driver.publisher.published && !Context.current().isCancelled()) {
                Pauses.millis(50);
            }
            return super.fetch(id);
        }
    }

    @Altered(id = "M-51")
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
    @Altered(id = "M-97")
    static final class Replacing extends DeviceReports {
        @Override
        void write(JsonNode claim, ObjectNode held) {
            ObjectNode changed = driver.api.get(path(held)).deepCopy();
            ArrayNode devices = changed.withObject("/status").putArray("devices");
            held.path("devices").forEach(device -> devices.add(entry(device)));
            driver.api.put(path(held) + "/status", changed);
        }
    }

    @Altered(id = "M-99")
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
    @Altered(id = "M-101")
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

    @Altered(id = "M-104")
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
    @Altered(id = "M-110")
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
    @Altered(id = "M-111")
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
    @Altered(id = "M-120")
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
    @Altered(id = "M-141")
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

    @Altered(id = "M-150")
    static final class FirstAuthority extends ApiClient {
        private final String first = super.authority();

        @Override
        String authority() {
            return first;
        }
    }

    /** Never prepares a claim of which it could not write the status. */
    @Altered(id = "M-132b")
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

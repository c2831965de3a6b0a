// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.grpc.Context;
import io.grpc.Deadline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** How the claim is read, and what happens to the work when that takes long or fails. */
final class ApiFaults {

    private ApiFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-28" -> parts.work = MissingIsEmpty::new;
            case "M-29" -> parts.work = AnyUid::new;
            case "M-30" -> parts.work = Unallocated::new;
            case "M-49" -> parts.work = Resentful::new;
            case "M-50" -> parts.work = AfterPublishing::new;
            case "M-51" -> parts.work = OneLock::new;
            case "M-132a" -> parts.reports = OnceOnly::new;
            case "M-132b" -> parts.reports = Unforgiving::new;
            case "M-97" -> parts.reports = Replacing::new;
            case "M-99" -> parts.work = Insistent::new;
            case "M-101" -> parts.work = RawUid::new;
            case "M-102" -> parts.work = RawName::new;
            case "M-104" -> parts.work = Talkative::new;
            case "M-110" -> parts.work = KeepsTheLock::new;
            case "M-111" -> parts.work = InProgress::new;
            case "M-120" -> parts.work = Curious::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class MissingIsEmpty extends ClaimWork {
        MissingIsEmpty(BareDriver driver) {
            super(driver);
        }

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

    private static final class AnyUid extends ClaimWork {
        AnyUid(BareDriver driver) {
            super(driver);
        }

        @Override
        void checkUid(ClaimId id, JsonNode claim) {}
    }

    private static final class Unallocated extends ClaimWork {
        Unallocated(BareDriver driver) {
            super(driver);
        }

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
                ((ObjectNode) claim)
                        .withObject("/status/allocation/devices")
                        .set("results", results);
            }
        }
    }

    /** A failure is for ever. */
    private static final class Resentful extends ClaimWork {
        private final Map<String, Answer> failures = new ConcurrentHashMap<>();

        Resentful(BareDriver driver) {
            super(driver);
        }

        @Override
        Answer prepare(ClaimId id) {
            Answer known = failures.get(id.uid());
            Answer answer = known == null ? super.prepare(id) : known;
            if (!answer.error().isEmpty()) {
                failures.put(id.uid(), answer);
            }
            return answer;
        }
    }

    private static final class AfterPublishing extends ClaimWork {
        AfterPublishing(BareDriver driver) {
            super(driver);
        }

        @Override
        JsonNode fetch(ClaimId id) {
            while (!driver.publisher.published && !Context.current().isCancelled()) {
                Pauses.millis(50);
            }
            return super.fetch(id);
        }
    }

    private static final class OneLock extends ClaimWork {
        private final ReentrantLock lock = new ReentrantLock();

        OneLock(BareDriver driver) {
            super(driver);
        }

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
    private static final class Replacing extends DeviceReports {
        Replacing(BareDriver driver) {
            super(driver);
        }

        @Override
        void write(JsonNode claim, ObjectNode held) {
            ObjectNode changed = driver.api.get(path(held)).deepCopy();
            ArrayNode devices = changed.withObject("/status").putArray("devices");
            held.path("devices").forEach(device -> devices.add(entry(device)));
            driver.api.put(path(held) + "/status", changed);
        }
    }

    private static final class Insistent extends ClaimWork {
        Insistent(BareDriver driver) {
            super(driver);
        }

        @Override
        JsonNode fetch(ClaimId id) {
            for (int time = 1; time < 5; time++) {
                super.fetch(id);
            }
            return super.fetch(id);
        }
    }

    /** Makes a file of the UID's name before it knows whether that is one. */
    private static final class RawUid extends ClaimWork {
        RawUid(BareDriver driver) {
            super(driver);
        }

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

    private static final class RawName extends ClaimWork {
        RawName(BareDriver driver) {
            super(driver);
        }

        @Override
        void check(ClaimId id) {}
    }

    private static final class Talkative extends ClaimWork {
        Talkative(BareDriver driver) {
            super(driver);
        }

        @Override
        String message(RuntimeException problem) {
            String message = super.message(problem);
            return problem instanceof ApiClient.Failed
                    ? message + " (Authorization: Bearer " + driver.api.token() + ")"
                    : message;
        }
    }

    /** Whoever was given up by the kubelet keeps the claim locked. */
    private static final class KeepsTheLock extends ClaimWork {
        private static final long NEARLY_OVER = 500;
        private final Set<String> busy = ConcurrentHashMap.newKeySet();

        KeepsTheLock(BareDriver driver) {
            super(driver);
        }

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
                    || deadline != null
                            && deadline.timeRemaining(TimeUnit.MILLISECONDS) < NEARLY_OVER;
        }
    }

    /** Takes a record that a crash has left for another call at work. */
    private static final class InProgress extends ClaimWork {
        InProgress(BareDriver driver) {
            super(driver);
        }

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
    private static final class Curious extends ClaimWork {
        Curious(BareDriver driver) {
            super(driver);
        }

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
                    Life.current().say(e.getMessage());
                }
            }
        }
    }

    private static final class OnceOnly extends DeviceReports {
        OnceOnly(BareDriver driver) {
            super(driver);
        }

        @Override
        int tries() {
            return 1;
        }
    }

    /** Never prepares a claim of which it could not write the status. */
    private static final class Unforgiving extends DeviceReports {
        private final Set<String> refused = ConcurrentHashMap.newKeySet();

        Unforgiving(BareDriver driver) {
            super(driver);
        }

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

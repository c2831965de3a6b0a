// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.selfcheck.ClaimOutcome.Prepared;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/** Mutants that respond wrongly, or unprepare the wrong claim. */
final class ResponseMutants {

    private ResponseMutants() {}

    @Altered(id = "M-20")
    static final class Subrequests extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            for (int at = 0; at < devices.size(); at++) {
                JsonNode request = held.path("devices").path(at).path("request");
                devices.set(at, devices.get(at).withRequests(List.of(request.asText())));
            }
            return devices;
        }
    }

    @Altered(id = "M-26")
    static final class Aborting extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            Map<String, ClaimOutcome> answers = new LinkedHashMap<>();
            for (ClaimId claim : claims) {
                ClaimOutcome answer = prepare(version, claim);
                answers.put(claim.uid(), answer);
                if (!answer.error().isEmpty()) {
                    break;
                }
            }
            return answers;
        }
    }

    @Altered(id = "M-47a")
    static final class Twice extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            Map<String, ClaimOutcome> answers = new LinkedHashMap<>();
            for (ClaimId claim : claims) {
                answers.merge(claim.uid(), prepare(version, claim), Twice::both);
            }
            return answers;
        }

        private static ClaimOutcome both(ClaimOutcome one, ClaimOutcome other) {
            List<Prepared> devices = new ArrayList<>(one.devices());
            devices.addAll(other.devices());
            return new ClaimOutcome(devices, one.error());
        }
    }

    /** Changes the responses to Prepare. */
    abstract static class ChangedResponses extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            return changed(super.prepare(version, claims));
        }

        abstract Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers);

        static ClaimOutcome each(ClaimOutcome answer, UnaryOperator<Prepared> changed) {
            return new ClaimOutcome(answer.devices().stream().map(changed).toList(), answer.error());
        }
    }

    @Altered(id = "M-17")
    static final class WithoutSecond extends ChangedResponses {
        @Override
        Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers) {
            if (answers.size() > 1) {
                answers.remove(List.copyOf(answers.keySet()).get(1));
            }
            return answers;
        }
    }

    @Altered(id = "M-21")
    static final class WithoutRequests extends ChangedResponses {
        @Override
        Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers) {
            answers.replaceAll((uid, answer) ->
                    answer.devices().stream().map(Prepared::requests).distinct().count() > 1
                            ? each(answer, device -> device.withRequests(List.of()))
                            : answer);
            return answers;
        }
    }

    /** Undoes the other claims of the same device: those of other shares, or an admin's victims. */
    abstract static class TakesAlong extends ClaimWork {
        private final boolean shares;

        TakesAlong(boolean shares) {
            this.shares = shares;
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            for (JsonNode device : known.path("devices")) {
                boolean shared = !device.path("share").asText().isEmpty();
                if (shares == shared && !device.path("exclusive").asBoolean()) {
                    List.copyOf(held.values()).stream()
                            .filter(other -> other != known && has(other, device))
                            .map(other -> other.path("uid").asText())
                            .forEach(uid -> {
                                release(uid);
                                held.remove(uid);
                            });
                }
            }
            super.forget(id, held, known);
        }

        private static boolean has(ObjectNode other, JsonNode device) {
            return Json.list(other.path("devices")).stream()
                    .anyMatch(each -> each.path("device").equals(device.path("device")));
        }
    }

    @Altered(id = "M-48")
    static final class NeverAgain extends ClaimWork {
        private final Set<String> gone = ConcurrentHashMap.newKeySet();

        @Override
        void check(ClaimId id) {
            super.check(id);
            if (gone.contains(id.namespace() + "/" + id.name())) {
                throw new Refused("The claim was unprepared");
            }
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            super.forget(id, held, known);
            gone.add(id.namespace() + "/" + id.name());
        }
    }

    @Altered(id = "M-53")
    static final class Asking extends ClaimWork {
        @Override
        void undo(ClaimId id) {
            if (id.isSane()) {
                checkUid(id, fetch(id));
            }
            super.undo(id);
        }
    }

    @Altered(id = "M-54")
    static final class ByName extends ClaimWork {
        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            for (ObjectNode other : List.copyOf(held.values())) {
                if (other.path("name").asText().equals(id.name())
                        && other.path("namespace").asText().equals(id.namespace())) {
                    super.forget(
                            new ClaimId(
                                    id.namespace(), id.name(), other.path("uid").asText()),
                            held,
                            other);
                }
            }
        }
    }

    @Altered(id = "M-55")
    static final class AllAtOnce extends ClaimWork {
        @Override
        void release(String uid) {
            super.release(uid);
            driver.cdi.files().forEach(driver.cdi::remove);
        }
    }

    @Altered(id = "M-37")
    static final class TakesOwnersAlong extends TakesAlong {
        TakesOwnersAlong() {
            super(false);
        }
    }

    @Altered(id = "M-40")
    static final class TakesSharesAlong extends TakesAlong {
        TakesSharesAlong() {
            super(true);
        }
    }

    /** Keeps what was done before the failure. */
    @Altered(id = "M-27")
    static class HalfDone extends ClaimWork {
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            try {
                return super.plan(id, claim);
            } catch (Refused e) {
                keep(Json.object().put("uid", id.uid()), id, claim);
                throw e;
            }
        }

        private void keep(ObjectNode half, ClaimId id, JsonNode claim) {
            half.put("namespace", id.namespace()).put("name", id.name()).put("failed", true);
            for (JsonNode result : results(claim)) {
                try {
                    describe(half, claim, result);
                } catch (Refused e) {
                    Life.current().log("Not prepared: " + e.getMessage());
                }
            }
            Map<String, ObjectNode> held = held();
            if (half.has("devices")) {
                begin(held, half);
                effects(half);
            }
        }
    }

    @Altered(id = "M-113")
    static final class HalfDoneForGood extends HalfDone {
        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            if (!known.path("failed").asBoolean()) {
                super.forget(id, held, known);
            }
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Mutants that unprepare the wrong claim, or report it wrongly. */
final class UnprepareMutants {

    private UnprepareMutants() {}

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

    @Mutant(
            id = "M-48",
            what = "remembers unprepared claims by name, and refuses to prepare them again",
            collateral = {"DRA-UNP-08", "DRA-CDI-07", "DRA-UPG-03"})
    @Violation("DRA-PREP-30: a claim that is prepared again after its unprepare is")
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

    @Mutant(
            id = "M-52",
            what = "unpreparing an unknown claim is an error",
            collateral = {
                "DRA-REG-07", "DRA-PREP-09", "DRA-PREP-13", "DRA-PREP-19",
                "DRA-UNP-07", "DRA-UNP-10", "DRA-RST-04", "DRA-UPG-02",
                "DRA-SEC-03", "DRA-SHUT-02", "DRA-SHUT-03"
            },
            from = Build.PLAIN)
    @Violation("DRA-UNP-02: the unprepare of a claim that the driver never saw failed:")
    @Violation("DRA-UNP-03: the repeated unprepare of a claim failed: claim UID")
    static final class Exact extends ClaimWork {
        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            if (known.isEmpty()) {
                throw new Refused("The claim is not prepared");
            }
            super.forget(id, held, known);
        }
    }

    @Mutant(
            id = "M-53",
            what = "reads the claim in order to unprepare it",
            collateral = {
                "DRA-REG-07", "DRA-UNP-02",
                "DRA-UNP-08", "DRA-UNP-10",
                "DRA-SEC-03"
            })
    @Violation("DRA-UNP-04: the unprepare of a claim whose object is deleted failed:")
    @Violation("DRA-UNP-05: an unprepare, while the API server does not answer, is not")
    static final class Asking extends ClaimWork {
        @Override
        void undo(ClaimId id) {
            if (id.isSane()) {
                checkUid(id, fetch(id));
            }
            super.undo(id);
        }
    }

    @Mutant(id = "M-54", what = "unprepares by namespace and name")
    @Violation("DRA-UNP-08: the unprepare of an earlier claim of its name took CDI")
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

    @Mutant(
            id = "M-55",
            what = "unpreparing one claim removes all of its specs",
            collateral = {"DRA-PREP-19", "DRA-UNP-08", "DRA-CDI-07"})
    @Violation("DRA-UNP-09: the unprepare of another claim took CDI device")
    static final class AllAtOnce extends ClaimWork {
        @Override
        void release(String uid) {
            super.release(uid);
            driver.cdi.files().forEach(driver.cdi::remove);
        }
    }

    @Mutant(id = "M-58", what = "logs that it could not delete a spec, and answers OK")
    @Violation("DRA-UNP-12: succeeded while the CDI directory was read-only, and its")
    static final class Hopeful extends CdiSpecs {
        @Override
        void delete(String uid) {
            try {
                super.delete(uid);
            } catch (Refused e) {
                Life.current().log(e.getMessage());
            }
        }
    }

    @Mutant(id = "M-37", what = "unpreparing the admin's claim frees the owner's device")
    @Violation("DRA-PREP-19: the unprepare of a claim with admin access took the CDI")
    static final class TakesOwnersAlong extends TakesAlong {
        TakesOwnersAlong() {
            super(false);
        }
    }

    @Mutant(id = "M-40", what = "unpreparing one share deletes the other", options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-PREP-22: the unprepare of one share took CDI device")
    static final class TakesSharesAlong extends TakesAlong {
        TakesSharesAlong() {
            super(true);
        }
    }

    /** Keeps what was done before the failure. */
    @Mutant(id = "M-27", what = "a failed claim leaves its first device's spec and lock")
    @Violation("DRA-PREP-09: the prepare of a claim failed and still holds device")
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

    @Mutant(
            id = "M-113",
            what = "Unprepare skips claims whose Prepare failed half-way",
            collateral = {
                "DRA-PREP-02", "DRA-PREP-25",
                "DRA-PREP-30", "DRA-UNP-03"
            })
    @Violation("DRA-UNP-07: after a prepare that failed and its unprepare, the CDI")
    @Violation("DRA-PREP-09: the prepare of a claim failed and still holds device")
    static final class HalfDoneForGood extends HalfDone {
        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            if (!known.path("failed").asBoolean()) {
                super.forget(id, held, known);
            }
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Mutants that persist the wrong claims, or too late. */
final class StateMutants {

    private StateMutants() {}

    /** Takes what is not in the state for what never was. */
    static class TrustingWork extends ClaimWork {
        @Override
        Map<String, ObjectNode> held() {
            return state.read().orElseGet(LinkedHashMap::new);
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            if (!known.isEmpty()) {
                super.forget(id, held, known);
            }
        }
    }

    /** The state of v1beta1 is a driver's of its own. */
    @Mutant(
            id = "M-16",
            what = "v1 and v1beta1 have separate state",
            collateral = {
                "DRA-VER-03", "DRA-PREP-02", "DRA-PREP-04", "DRA-PREP-07", "DRA-PREP-08",
                "DRA-PREP-14", "DRA-PREP-19", "DRA-PREP-25", "DRA-PREP-26", "DRA-PREP-30",
                "DRA-UNP-03", "DRA-UNP-10", "DRA-CDI-01"
            })
    @Violation("DRA-VER-02: the same claim is answered")
    static final class TwoStates extends Calls {
        private final ClaimWork beta;

        TwoStates() {
            String plugins = "--kubelet-plugins-directory-path";
            String folder = driver.settings.data().resolve("beta").toString();
            Settings settings = driver.settings.with(plugins, folder);
            beta = new Parts(settings, List.of(BetaSpecs.class)).make(BareDriver.class).calls.work;
        }

        @Override
        ClaimWork work(String version) {
            if (version.equals(PluginV1.VERSION)) {
                return work;
            }
            beta.state.makeFolder();
            return beta;
        }
    }

    static final class BetaSpecs extends CdiSpecs {
        @Override
        String kind() {
            return settings.driver() + "/gpu-beta";
        }

        @Override
        java.nio.file.Path file(String uid) {
            return super.file("beta-" + uid);
        }
    }

    @Mutant(
            id = "M-57",
            what = "keeps its state in memory only",
            with = {TrustingWork.class, NamesOfTheMoment.class},
            collateral = {
                "DRA-RST-03", "DRA-RST-10",
                "DRA-UPG-02", "DRA-UPG-03",
                "DRA-SHUT-02"
            })
    @Violation("DRA-UNP-06: after a graceful restart and Unprepare of claim")
    @Violation("DRA-RST-01: after a SIGKILL and a new start, the device")
    static final class InMemory extends StateFile {
        private Map<String, ObjectNode> claims = Map.of(); // guarded by the lock of all work

        @Override
        Optional<Map<String, ObjectNode>> read() {
            return Optional.of(new LinkedHashMap<>(claims));
        }

        @Override
        void write(Map<String, ObjectNode> next) {
            claims = new LinkedHashMap<>(next);
        }
    }

    /** Answers first, and writes a second later. */
    @Mutant(
            id = "M-83",
            what = "writes its checkpoint after the answer",
            with = {TrustingWork.class, NamesOfTheMoment.class},
            collateral = {
                "DRA-UNP-06",
                "DRA-RST-03",
                "DRA-RST-05",
                "DRA-RST-06",
                "DRA-RST-07",
                "DRA-RST-10",
                "DRA-UPG-02",
                "DRA-UPG-03",
                "DRA-SHUT-02",
                "DRA-SHUT-03"
            })
    @Violation("DRA-RST-01: after a SIGKILL and a new start, the device")
    static final class Late extends StateFile {
        private Map<String, ObjectNode> claims; // guarded by the lock of all work

        @Override
        Optional<Map<String, ObjectNode>> read() {
            return claims == null ? super.read() : Optional.of(new LinkedHashMap<>(claims));
        }

        @Override
        void write(Map<String, ObjectNode> next) {
            claims = new LinkedHashMap<>(next);
            Map<String, ObjectNode> copy = claims;
            Pauses.later(1000, () -> super.write(copy));
        }
    }

    /** The spec comes before any record of it. */
    @Mutant(
            id = "M-84",
            what = "writes the CDI spec before its record, and does not unprepare what it does not know",
            with = NamesOfTheMoment.class,
            collateral = "DRA-RST-06")
    @Violation("DRA-RST-03: appeared, and Unprepare in a new process (window hit")
    static final class EffectsFirst extends TrustingWork {
        @Override
        ObjectNode carryOut(Map<String, ObjectNode> held, ObjectNode fresh) {
            effects(fresh);
            Pauses.millis(100);
            held.put(fresh.path("uid").asText(), fresh);
            finish(held, fresh);
            return fresh;
        }
    }

    @Mutant(id = "M-85", what = "crashes on a truncated state file")
    @Violation("DRA-RST-06: after the state file was emptied, the driver ended when it")
    static final class Panicking extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            Life.current().log("panic: " + problem);
            Life.current().end(2);
            return Optional.empty();
        }
    }

    @Mutant(
            id = "M-86",
            what = "replaces a truncated state file by an empty one",
            with = {TrustingWork.class, NamesOfTheMoment.class})
    @Violation("DRA-RST-06: after the state file was emptied, the device")
    static final class StartingOver extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            write(Map.of());
            return Optional.of(new LinkedHashMap<>());
        }
    }

    @Mutant(
            id = "M-222",
            what = "starts fresh with a damaged state, and gives each device to any claim",
            with = Undefended.class)
    @Violation("DRA-RST-06: after the state file was emptied, Unprepare of claim")
    static final class StartingFresh extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            return Optional.of(new LinkedHashMap<>());
        }
    }

    static final class Undefended extends TrustingWork {
        @Override
        void checkFree(ObjectNode fresh, Map<String, ObjectNode> held) {}
    }

    @Mutant(id = "M-87", what = "ignores that the disk is full", with = CarelessSpecs.class)
    @Violation("DRA-RST-07: succeeded while the CDI directory was read-only, and its id")
    static final class Careless extends StateFile {
        @Override
        void write(Map<String, ObjectNode> claims) {
            try {
                super.write(claims);
            } catch (Refused e) {
                Life.current().log(e.getMessage());
            }
        }
    }

    static final class CarelessSpecs extends CdiSpecs {
        @Override
        void write(ObjectNode held) {
            try {
                super.write(held);
            } catch (Refused e) {
                Life.current().log(e.getMessage());
            }
        }
    }

    /** Reads the file once, and knows nothing of what another instance does. */
    @Mutant(
            id = "M-89",
            what = "has no lock between processes",
            with = {TrustingWork.class, NamesOfTheMoment.class},
            collateral = {"DRA-RST-06", "DRA-UPG-03"})
    @Violation("DRA-UPG-02: two instances answered differently for claim")
    static final class OwnCopy extends StateFile {
        private Map<String, ObjectNode> claims; // guarded by the lock of this instance

        @Override
        synchronized <T> T locked(Supplier<T> work) {
            return work.get();
        }

        @Override
        Optional<Map<String, ObjectNode>> read() {
            if (claims == null) {
                claims = super.read().orElseGet(LinkedHashMap::new);
            }
            return Optional.of(new LinkedHashMap<>(claims));
        }

        @Override
        void write(Map<String, ObjectNode> next) {
            claims = new LinkedHashMap<>(next);
            super.write(next);
        }
    }

    /** Looks for specs under the names alone that this release gives them. */
    @Mutant(id = "M-134", what = "does not find the specs of the release before")
    @Violation("DRA-RST-08: and this one unprepared it, the CDI directory has")
    static final class NewNames extends CdiSpecs {
        @Override
        java.nio.file.Path file(String uid) {
            return super.file("v2-" + uid);
        }
    }

    /** Takes what was prepared before a reboot for prepared. */
    @Mutant(id = "M-135", what = "keeps what was prepared before a reboot", options = "--proc-root={ROOT}/proc")
    @Violation("DRA-RST-09: which is deleted: ")
    static final class OfAllBoots extends ClaimWork {
        @Override
        void start() {}
    }

    /** It knows what the other instance had prepared when this one started. */
    @Mutant(id = "M-261a", what = "keeps a table of the slots of claims in each process")
    @Violation("DRA-UPG-06: two instances, asked in turn, gave several claims [env SLOT=0, env SLOT=1, ")
    static class SlotsOfTheProcess extends StateVariants.Slots {
        private final Map<String, Integer> table = new HashMap<>(); // guarded by the lock of all work

        @Override
        void start() {
            super.start();
            held().forEach((uid, held) -> table.put(uid, held.path("slot").asInt()));
        }

        @Override
        Set<Integer> taken() {
            return Set.copyOf(table.values());
        }

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            ObjectNode fresh = super.plan(id, claim);
            table.put(id.uid(), fresh.path("slot").asInt());
            return fresh;
        }

        @Override
        void release(String uid) {
            super.release(uid);
            table.remove(uid);
        }
    }

    @Mutant(
            id = "M-261b",
            what = "keeps a table of the slots of shares in each process",
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-UPG-06: two instances, asked in turn, gave several claims [env SLOT=")
    static final class SlotsOfShares extends SlotsOfTheProcess {}

    @Mutant(
            id = "M-262",
            what = "chooses a slot from the state of the node, under a lock of the process",
            collateral = "DRA-PREP-32",
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-UPG-06: two instances, asked at the same time, gave several claims [env SLOT=")
    static final class LockedInProcess extends StateVariants.Slots {
        private Set<Integer> seen = Set.of(); // guarded by this

        @Override
        synchronized ObjectNode work(ClaimId id) {
            seen = super.taken();
            Pauses.millis(20);
            return super.work(id);
        }

        @Override
        Set<Integer> taken() {
            return seen;
        }
    }
}

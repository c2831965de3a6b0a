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
    @Altered(id = "M-16")
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

    @Altered(
            id = "M-57",
            with = {TrustingWork.class, NamesOfTheMoment.class})
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
    @Altered(
            id = "M-83",
            with = {TrustingWork.class, NamesOfTheMoment.class})
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
    @Altered(id = "M-84", with = NamesOfTheMoment.class)
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

    @Altered(id = "M-85")
    static final class Panicking extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            Life.current().log("panic: " + problem);
            Life.current().end(2);
            return Optional.empty();
        }
    }

    @Altered(
            id = "M-86",
            with = {TrustingWork.class, NamesOfTheMoment.class})
    static final class StartingOver extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            write(Map.of());
            return Optional.of(new LinkedHashMap<>());
        }
    }

    @Altered(id = "M-222", with = Undefended.class)
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

    /** Reads the file once, and knows nothing of what another instance does. */
    @Altered(
            id = "M-89",
            with = {TrustingWork.class, NamesOfTheMoment.class})
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

    /** A claim that was refused keeps its intent until it is unprepared. */
    @Altered(id = "M-263")
    static final class IntentFirst extends ClaimWork {
        @Override
        ObjectNode work(ClaimId id) {
            state.locked(() -> {
                begin(held(), plan(id, fetch(id)));
                return true;
            });
            Pauses.millis(50);
            return super.work(id);
        }
    }

    /** It knows what the other instance had prepared when this one started. */
    @Altered(id = {"M-261a", "M-261b"})
    static final class SlotsOfTheProcess extends StateVariants.Slots {
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

    @Altered(id = "M-262")
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

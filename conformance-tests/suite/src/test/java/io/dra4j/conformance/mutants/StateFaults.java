// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** What is remembered of claims, and when. */
final class StateFaults {

    private StateFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-16" -> parts.calls = TwoStates::new;
            case "M-57" -> forgetful(parts, InMemory::new);
            case "M-83" -> forgetful(parts, Late::new);
            case "M-84" -> {
                parts.work = EffectsFirst::new;
                parts.cdi = NamesOfTheMoment::new;
            }
            case "M-85" -> parts.state = Panicking::new;
            case "M-86" -> forgetful(parts, StartingOver::new);
            case "M-87" -> {
                parts.state = Careless::new;
                parts.cdi = CarelessSpecs::new;
            }
            case "M-89" -> forgetful(parts, OwnCopy::new);
            case "M-134" -> parts.cdi = NewNames::new;
            case "M-135" -> parts.work = OfAllBoots::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void forgetful(
            Parts parts, java.util.function.Function<Settings, StateFile> state) {
        parts.work = TrustingWork::new;
        parts.cdi = NamesOfTheMoment::new;
        parts.state = state;
    }

    /** Takes what is not in the state for what never was. */
    static class TrustingWork extends ClaimWork {
        TrustingWork(BareDriver driver) {
            super(driver);
        }

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
    private static final class TwoStates extends Calls {
        private final ClaimWork beta;

        TwoStates(BareDriver driver) {
            super(driver);
            Parts parts = new Parts();
            parts.cdi = BetaSpecs::new;
            String plugins = "--kubelet-plugins-directory-path";
            String folder = driver.settings.data().resolve("beta").toString();
            beta = new BareDriver(driver.settings.with(plugins, folder), parts).calls.work;
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

    private static final class BetaSpecs extends CdiSpecs {
        BetaSpecs(Settings settings) {
            super(settings);
        }

        @Override
        String kind() {
            return settings.driver() + "/gpu-beta";
        }

        @Override
        java.nio.file.Path file(String uid) {
            return super.file("beta-" + uid);
        }
    }

    private static final class InMemory extends StateFile {
        private Map<String, ObjectNode> claims = Map.of(); // guarded by the lock of all work

        InMemory(Settings settings) {
            super(settings);
        }

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
    private static final class Late extends StateFile {
        private Map<String, ObjectNode> claims; // guarded by the lock of all work

        Late(Settings settings) {
            super(settings);
        }

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
    private static final class EffectsFirst extends TrustingWork {
        EffectsFirst(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode carryOut(Map<String, ObjectNode> held, ObjectNode fresh) {
            effects(fresh);
            Pauses.millis(100);
            held.put(fresh.path("uid").asText(), fresh);
            finish(held, fresh);
            return fresh;
        }
    }

    private static final class Panicking extends StateFile {
        Panicking(Settings settings) {
            super(settings);
        }

        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            Life.current().say("panic: " + problem);
            Life.current().end(2);
            return Optional.empty();
        }
    }

    private static final class StartingOver extends StateFile {
        StartingOver(Settings settings) {
            super(settings);
        }

        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            write(Map.of());
            return Optional.of(new LinkedHashMap<>());
        }
    }

    private static final class Careless extends StateFile {
        Careless(Settings settings) {
            super(settings);
        }

        @Override
        void write(Map<String, ObjectNode> claims) {
            try {
                super.write(claims);
            } catch (Refused e) {
                Life.current().say(e.getMessage());
            }
        }
    }

    private static final class CarelessSpecs extends CdiSpecs {
        CarelessSpecs(Settings settings) {
            super(settings);
        }

        @Override
        void write(ObjectNode held) {
            try {
                super.write(held);
            } catch (Refused e) {
                Life.current().say(e.getMessage());
            }
        }
    }

    /** Reads the file once, and knows nothing of what another instance does. */
    private static final class OwnCopy extends StateFile {
        private Map<String, ObjectNode> claims; // guarded by the lock of this instance

        OwnCopy(Settings settings) {
            super(settings);
        }

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
    private static final class NewNames extends CdiSpecs {
        NewNames(Settings settings) {
            super(settings);
        }

        @Override
        java.nio.file.Path file(String uid) {
            return super.file("v2-" + uid);
        }
    }

    /** Takes what was prepared before a reboot for prepared. */
    private static final class OfAllBoots extends ClaimWork {
        OfAllBoots(BareDriver driver) {
            super(driver);
        }

        @Override
        void start() {}
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is prepared of a claim, for whom, and what is left when that fails. */
final class PrepareFaults {

    private PrepareFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-22" -> parts.work = FirstOfRequest::new;
            case "M-23" -> {
                parts.work = Afresh::new;
                parts.cdi = NamesOfTheMoment::new;
            }
            case "M-24" -> parts.work = OnceOnly::new;
            case "M-25" -> {
                parts.work = Racing::new;
                parts.cdi = FilesOfTheMoment::new;
            }
            case "M-27" -> parts.work = driver -> new HalfDone(driver, false);
            case "M-31" -> parts.work = Everybodys::new;
            case "M-33" -> parts.work = Skipping::new;
            case "M-34" -> parts.work = AnyPool::new;
            case "M-35" -> parts.work = Sharing::new;
            case "M-36" -> parts.work = Strict::new;
            case "M-82" -> parts.work = OtherPool::new;
            case "M-113" -> parts.work = driver -> new HalfDone(driver, true);
            case "M-116" -> parts.work = Slow::new;
            case "M-123a" -> parts.work = driver -> new NothingOwn(driver, true);
            case "M-123b" -> parts.work = driver -> new NothingOwn(driver, false);
            case "M-128" -> parts.work = Squeamish::new;
            case "M-129b" -> parts.work = ByName::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class FirstOfRequest extends ClaimWork {
        FirstOfRequest(BareDriver driver) {
            super(driver);
        }

        @Override
        List<JsonNode> results(JsonNode claim) {
            Map<String, JsonNode> first = new LinkedHashMap<>();
            super.results(claim).forEach(r -> first.putIfAbsent(r.path("request").asText(), r));
            return List.copyOf(first.values());
        }
    }

    private static final class Afresh extends ClaimWork {
        Afresh(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode establish(ClaimId id, JsonNode claim) {
            Map<String, ObjectNode> held = held();
            ObjectNode fresh = plan(id, claim);
            checkFree(fresh, held);
            return carryOut(held, fresh);
        }
    }

    private static final class OnceOnly extends ClaimWork {
        OnceOnly(BareDriver driver) {
            super(driver);
        }

        @Override
        void repeat(ObjectNode known) {
            throw new Refused("The claim is already prepared");
        }
    }

    /** Looks before it writes, with nothing to keep others from doing so, too. */
    private static final class Racing extends ClaimWork {
        Racing(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode work(ClaimId id) {
            JsonNode claim = fetch(id);
            check(id);
            checkUid(id, claim);
            checkAllocated(claim);
            ObjectNode known = held().get(id.uid());
            if (known != null) {
                repeat(known);
                return known;
            }
            ObjectNode fresh = plan(id, claim);
            checkFree(fresh, held());
            Pauses.millis(400);
            effects(fresh);
            return state.locked(
                    () -> {
                        Map<String, ObjectNode> held = held();
                        held.put(id.uid(), fresh);
                        finish(held, fresh);
                        return fresh;
                    });
        }
    }

    /** A file for each attempt; the last one alone is remembered. */
    private static final class FilesOfTheMoment extends NamesOfTheMoment {
        FilesOfTheMoment(Settings settings) {
            super(settings);
        }

        @Override
        synchronized void write(ObjectNode held) { // two are the fault, not one that is half there
            String id = held.at("/devices/0/cdi/0").asText();
            write(held, file(held.path("uid").asText() + id.substring(id.lastIndexOf('_'))));
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        void delete(String uid) {
            files(settings.driver() + "-gpu_" + uid + "_*.json").stream()
                    .limit(1)
                    .forEach(this::remove);
        }
    }

    /** A failure keeps what was done before it; and Unprepare may leave that, too. */
    private static final class HalfDone extends ClaimWork {
        private final boolean forGood;

        HalfDone(BareDriver driver, boolean forGood) {
            super(driver);
            this.forGood = forGood;
        }

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
                    Life.current().say("Not prepared: " + e.getMessage());
                }
            }
            Map<String, ObjectNode> held = held();
            if (half.has("devices")) {
                begin(held, half);
                effects(half);
            }
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            if (!forGood || !known.path("failed").asBoolean()) {
                super.forget(id, held, known);
            }
        }
    }

    private static final class Everybodys extends ClaimWork {
        Everybodys(BareDriver driver) {
            super(driver);
        }

        @Override
        boolean isOwn(JsonNode result) {
            return true;
        }

        @Override
        void checkExists(JsonNode result) {
            if (super.isOwn(result)) {
                super.checkExists(result);
            }
        }
    }

    private static final class Skipping extends ClaimWork {
        Skipping(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            ObjectNode held = Json.object().put("uid", id.uid());
            held.put("namespace", id.namespace()).put("name", id.name());
            for (JsonNode result : results(claim)) {
                if (exists(result)) {
                    describe(held, claim, result);
                }
            }
            return held;
        }

        private boolean exists(JsonNode result) {
            try {
                checkExists(result);
                return true;
            } catch (Refused e) {
                return false;
            }
        }

        @Override
        void effects(ObjectNode fresh) {
            if (fresh.has("devices")) {
                super.effects(fresh);
            }
        }

        @Override
        void repeat(ObjectNode known) {
            effects(known);
        }
    }

    private static final class AnyPool extends ClaimWork {
        AnyPool(BareDriver driver) {
            super(driver);
        }

        @Override
        String acceptedPool(JsonNode result) {
            for (Map.Entry<String, List<ObjectNode>> pool : driver.inventory.pools().entrySet()) {
                for (ObjectNode device : pool.getValue()) {
                    if (device.path("name").equals(result.path("device"))) {
                        return pool.getKey();
                    }
                }
            }
            return super.acceptedPool(result);
        }
    }

    private static final class Sharing extends ClaimWork {
        Sharing(BareDriver driver) {
            super(driver);
        }

        @Override
        void checkFree(ObjectNode fresh, Map<String, ObjectNode> held) {}
    }

    private static final class Strict extends ClaimWork {
        Strict(BareDriver driver) {
            super(driver);
        }

        @Override
        boolean isExclusive(JsonNode result) {
            return result.path("shareID").asText().isEmpty();
        }
    }

    /** Knows its pool by a name that is not the published one. */
    private static final class OtherPool extends ClaimWork {
        OtherPool(BareDriver driver) {
            super(driver);
        }

        @Override
        String acceptedPool(JsonNode result) {
            String pool = super.acceptedPool(result);
            return pool.endsWith("-local") ? pool.replaceFirst("-local$", "") : "none";
        }
    }

    private static final class Slow extends ClaimWork {
        private static final long EACH = 63;

        Slow(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            List<JsonNode> results = new ArrayList<>(results(claim));
            Pauses.millis(EACH * results.size() * results.size());
            return super.plan(id, claim);
        }
    }

    /** A claim without own devices ends the process, or gets a spec. */
    private static final class NothingOwn extends ClaimWork {
        private final boolean deadly;

        NothingOwn(BareDriver driver, boolean deadly) {
            super(driver);
            this.deadly = deadly;
        }

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            if (results(claim).isEmpty()) {
                if (deadly) {
                    Life.current().end(134);
                }
                driver.cdi.write(Json.object().put("uid", id.uid()));
            }
            return super.plan(id, claim);
        }
    }

    private static final class Squeamish extends ClaimWork {
        Squeamish(BareDriver driver) {
            super(driver);
        }

        @Override
        void checkExists(JsonNode result) {
            super.checkExists(result);
            String name = result.path("device").asText();
            for (ObjectNode device : driver.inventory.pools().get(acceptedPool(result))) {
                if (device.path("name").asText().equals(name) && device.has("taints")) {
                    throw new Refused("Device " + name + " has a taint");
                }
            }
        }
    }

    private static final class ByName extends ClaimWork {
        ByName(BareDriver driver) {
            super(driver);
        }

        @Override
        boolean overlap(String one, String other) {
            return one.equals(other);
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.selfcheck.ClaimOutcome.Prepared;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Mutants that prepare the wrong devices, for the wrong claim, or leave too much when that fails. */
final class PrepareMutants {

    private PrepareMutants() {}

    @Altered(id = "M-22")
    static final class FirstOfRequest extends ClaimWork {
        @Override
        List<JsonNode> results(JsonNode claim) {
            Map<String, JsonNode> first = new LinkedHashMap<>();
            super.results(claim)
                    .forEach(r -> first.putIfAbsent(r.path("request").asText(), r));
            return List.copyOf(first.values());
        }
    }

    @Altered(id = "M-23", with = NamesOfTheMoment.class)
    static final class Afresh extends ClaimWork {
        @Override
        ObjectNode establish(ClaimId id, JsonNode claim) {
            Map<String, ObjectNode> held = held();
            ObjectNode fresh = plan(id, claim);
            checkFree(fresh, held);
            return carryOut(held, fresh);
        }
    }

    /** Looks before it writes, with nothing to keep others from doing so, too. */
    @Altered(id = "M-25", with = FilesOfTheMoment.class)
    static final class Racing extends ClaimWork {
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
            return state.locked(() -> {
                Map<String, ObjectNode> held = held();
                held.put(id.uid(), fresh);
                finish(held, fresh);
                return fresh;
            });
        }
    }

    /** A file for each attempt; the last one alone is remembered. */
    static final class FilesOfTheMoment extends NamesOfTheMoment {
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

    @Altered(id = "M-33")
    static final class Skipping extends ClaimWork {
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

    @Altered(id = "M-34")
    static class AnyPool extends ClaimWork {
        @Override
        String acceptedPool(JsonNode result) {
            for (Map.Entry<String, List<ObjectNode>> pool :
                    driver.inventory.pools().entrySet()) {
                for (ObjectNode device : pool.getValue()) {
                    if (device.path("name").equals(result.path("device"))) {
                        return pool.getKey();
                    }
                }
            }
            return super.acceptedPool(result);
        }
    }

    @Altered(id = "M-116")
    static final class Slow extends ClaimWork {
        private static final long EACH = 63;

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            List<JsonNode> results = new ArrayList<>(results(claim));
            Pauses.millis(EACH * results.size() * results.size());
            return super.plan(id, claim);
        }
    }

    @Altered(id = "M-128")
    static final class Squeamish extends ClaimWork {
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

    @Altered(id = "M-129b")
    static final class ByName extends ClaimWork {
        @Override
        boolean overlap(String one, String other) {
            return one.equals(other);
        }
    }

    @Altered(id = "M-123a")
    static final class EndsOnNothingOwn extends ClaimWork {
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            if (results(claim).isEmpty()) {
                Life.current().end(134);
            }
            return super.plan(id, claim);
        }
    }

    @Altered(id = "M-123b")
    static final class SpecForNothingOwn extends ClaimWork {
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            if (results(claim).isEmpty()) {
                driver.cdi.write(Json.object().put("uid", id.uid()));
            }
            return super.plan(id, claim);
        }
    }

    @Altered(id = "M-210", with = ClaimVariants.WithoutPolicies.class)
    static final class Shareless extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            held.path("devices").forEach(device -> ((ObjectNode) device).put("share", ""));
            return super.devices(held);
        }
    }

    @Altered(id = "M-212", with = ClaimVariants.WithoutPolicies.class)
    static final class SharesOfAnyPool extends AnyPool {
        @Override
        void describe(ObjectNode held, JsonNode claim, JsonNode result) {
            if (result.path("consumedCapacity").isEmpty()) {
                throw new Refused("The capacity memory of " + result.path("device") + " is missing");
            }
            super.describe(held, claim, result);
        }
    }

    /** As a driver does that takes devices one by one, and returns from the middle. */
    @Altered(id = "M-211")
    static final class Leaky extends ClaimWork {
        private final Map<String, String> taken = new ConcurrentHashMap<>();

        @Override
        void describe(ObjectNode held, JsonNode claim, JsonNode result) {
            String uid = held.path("uid").asText();
            super.describe(held, claim, result);
            if (!taken.computeIfAbsent(result.path("device").asText(), device -> uid)
                    .equals(uid)) {
                throw new Refused("The device " + result.path("device") + " is taken");
            }
        }

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            ObjectNode fresh = super.plan(id, claim);
            taken.values().removeIf(id.uid()::equals); // from here on, the record of the claim counts
            return fresh;
        }
    }

    /** A claim that is configured at all has the privileges of an administrator. */
    @Altered(id = "M-38")
    static final class Privileged extends ClaimWork {
        @Override
        boolean isPrivileged(JsonNode claim, JsonNode result) {
            return super.isPrivileged(claim, result)
                    || !driver.configs.applied(claim, result).isEmpty();
        }
    }

    @Altered(id = "M-41a")
    static final class ClassFirst extends Configs {
        @Override
        Comparator<JsonNode> order() {
            return super.order().reversed();
        }
    }

    @Altered(id = "M-41b")
    static final class FirstWins extends Configs {
        @Override
        List<JsonNode> applied(JsonNode claim, JsonNode result) {
            List<JsonNode> entries = new ArrayList<>(super.applied(claim, result));
            Collections.reverse(entries);
            entries.sort(order());
            return entries;
        }
    }

    @Altered(id = "M-43")
    static final class Exact extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            return requests.isEmpty() || requests.contains(request);
        }
    }

    @Altered(id = "M-44")
    static final class Siblings extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            String base = request.split("/")[0];
            return requests.isEmpty() || requests.stream().anyMatch(each -> each.split("/")[0].equals(base));
        }
    }

    @Altered(id = "M-45")
    static final class Forgiving extends Configs {
        @Override
        Map<String, String> decode(JsonNode parameters) {
            try {
                return super.decode(parameters);
            } catch (Refused e) {
                return DEFAULT;
            }
        }
    }
}

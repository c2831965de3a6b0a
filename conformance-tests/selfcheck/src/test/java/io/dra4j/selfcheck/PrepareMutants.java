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
import java.util.concurrent.ConcurrentHashMap;

/**
 * Mutants that prepare the wrong devices, for the wrong claim, or leave too much when that fails.
 */
final class PrepareMutants {

    private PrepareMutants() {}

    @Mutant(id = "M-22", what = "only the first result of a request is prepared", collateral = "DRA-PREP-09")
    @Violation("DRA-PREP-04: devices that were allocated for one claim")
    @Violation("DRA-PREP-02: of the allocated devices")
    static final class FirstOfRequest extends ClaimWork {
        @Override
        List<JsonNode> results(JsonNode claim) {
            Map<String, JsonNode> first = new LinkedHashMap<>();
            super.results(claim)
                    .forEach(r -> first.putIfAbsent(r.path("request").asText(), r));
            return List.copyOf(first.values());
        }
    }

    @Mutant(id = "M-23", what = "CDI names are random in each call", with = NamesOfTheMoment.class, from = Build.PLAIN)
    @Violation("DRA-PREP-05: a repeated prepare is answered")
    static final class Afresh extends ClaimWork {
        @Override
        ObjectNode establish(ClaimId id, JsonNode claim) {
            Map<String, ObjectNode> held = held();
            ObjectNode fresh = plan(id, claim);
            checkFree(fresh, held);
            return carryOut(held, fresh);
        }
    }

    @Mutant(id = "M-24", what = "the second Prepare is an error, \"already prepared\"")
    @Violation("DRA-PREP-05: the repeated prepare of a prepared claim failed: claim UID")
    static final class OnceOnly extends ClaimWork {
        @Override
        void repeat(ObjectNode known) {
            throw new Refused("The claim is already prepared");
        }
    }

    @Mutant(id = "M-200", what = "refuses every claim")
    @Violation("DRA-PREP-01: was not prepared: The claim has no consumer")
    static final class RefusesAll extends ClaimWork {
        @Override
        void checkAllocated(JsonNode claim) {
            throw new Refused("The claim has no consumer");
        }
    }

    @Mutant(id = "M-201", what = "answers with one CDI id more than it writes")
    @Violation("DRA-CDI-02: the CDI id gpu.example.com/gpu=all resolves to nothing")
    static final class OneIdMore extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            return super.devices(held).stream().map(OneIdMore::more).toList();
        }

        private static Prepared more(Prepared device) {
            List<String> ids = new ArrayList<>(device.cdi());
            ids.add("gpu.example.com/gpu=all");
            return device.withCdi(ids);
        }
    }

    /** Looks before it writes, with nothing to keep others from doing so, too. */
    @Mutant(
            id = "M-25",
            what = "parallel Prepares write two specs",
            with = FilesOfTheMoment.class,
            collateral = {"DRA-RST-07", "DRA-UPG-02", "DRA-SEC-02"})
    @Violation("DRA-PREP-06: prepares of one claim at the same time are answered")
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

    @Mutant(id = "M-31", what = "prepares all results, foreign ones too")
    @Violation("DRA-PREP-13: the others are of driver")
    static final class Everybodys extends ClaimWork {
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

    @Mutant(id = "M-33", what = "skips an unknown device in silence", collateral = "DRA-PREP-13")
    @Violation("DRA-PREP-15: was prepared, although the driver has no device")
    @Violation("DRA-PREP-02: a claim with the devices")
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

    @Mutant(id = "M-34", what = "looks devices up by name, without their pool")
    @Violation("DRA-PREP-16: was prepared, although its device is in a pool that the")
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

    @Mutant(id = "M-35", what = "prepares one device for two claims", from = Build.PLAIN)
    @Violation("DRA-PREP-18: was prepared, although device")
    static final class Sharing extends ClaimWork {
        @Override
        void checkFree(ObjectNode fresh, Map<String, ObjectNode> held) {}
    }

    @Mutant(id = "M-36", what = "treats admin access as exclusive")
    @Violation("DRA-PREP-19: admin access to a device in use is refused: claim UID")
    static final class Strict extends ClaimWork {
        @Override
        boolean isExclusive(JsonNode result) {
            return result.path("shareID").asText().isEmpty();
        }
    }

    @Mutant(id = "M-82", what = "publishes its last device in another pool than it accepts")
    @Violation("DRA-SLICE-19: t be prepared under this pool and name: claim UID")
    static final class OtherPool extends ClaimWork {
        @Override
        String acceptedPool(JsonNode result) {
            return result.path("device").asText().equals("gpu-7") ? "none" : super.acceptedPool(result);
        }
    }

    @Mutant(id = "M-116", what = "takes 2 s for each result", collateral = "DRA-PREP-04", options = "--num-devices=32")
    @Violation("DRA-PERF-01: s, when the kubelet gives up")
    static final class Slow extends ClaimWork {
        private static final long EACH = 63;

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            List<JsonNode> results = new ArrayList<>(results(claim));
            Pauses.millis(EACH * results.size() * results.size());
            return super.plan(id, claim);
        }
    }

    @Mutant(id = "M-128", what = "refuses a device because of its taint", options = "--faults=gpu-7 NoSchedule odd")
    @Violation("DRA-TAINT-03: a claim that tolerates it was allocated it; prepare refused")
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

    @Mutant(
            id = "M-129b",
            what = "prepares partitions that overlap",
            collateral = {"DRA-SLICE-12", "DRA-HLT-02"},
            options = "--gpu-partitions=2")
    @Violation("DRA-PART-02: together they take more than their counters have")
    static final class ByName extends ClaimWork {
        @Override
        boolean overlap(String one, String other) {
            return one.equals(other);
        }
    }

    @Mutant(id = "M-123a", what = "ends upon a claim without own devices")
    @Violation("DRA-PREP-17: its unprepare failed: the call failed")
    static final class EndsOnNothingOwn extends ClaimWork {
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            if (results(claim).isEmpty()) {
                Life.current().end(134);
            }
            return super.plan(id, claim);
        }
    }

    @Mutant(id = "M-123b", what = "writes a spec for a claim without own devices")
    @Violation("DRA-PREP-17: s devices alone, the CDI directory has")
    static final class SpecForNothingOwn extends ClaimWork {
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            if (results(claim).isEmpty()) {
                driver.cdi.write(Json.object().put("uid", id.uid()));
            }
            return super.plan(id, claim);
        }
    }

    @Mutant(id = "M-145", what = "keeps the device of a claim that the kubelet has forgotten", timeoutFactor = 0.2)
    @Violation("DRA-RST-12: is deallocated; 12 s later the device")
    static final class Faithful extends ClaimWork {
        @Override
        boolean isForgotten(ObjectNode other) {
            return false;
        }
    }

    @Mutant(
            id = "M-146a",
            what = "takes two forms of a capacity's name for two in the edits",
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-PREP-38: has the edits")
    static final class Literal extends ClaimWork {
        @Override
        String own(String name) {
            return name;
        }
    }

    @Mutant(
            id = "M-146b",
            what = "counts two forms of a capacity's name as two",
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-PREP-38: with the other form of its name, a claim gets it")
    static final class LiteralCounts extends ClaimWork {
        @Override
        String counted(String name) {
            return name;
        }
    }

    @Mutant(id = "M-148", what = "looks for a pod in reservedFor")
    @Violation("DRA-PREP-36: a claim that is reserved for a PodGroup was not prepared")
    static final class ForPodsAlone extends ClaimWork {
        @Override
        void checkAllocated(JsonNode claim) {
            super.checkAllocated(claim);
            for (JsonNode consumer : claim.at("/status/reservedFor")) {
                if (!consumer.path("resource").asText().equals("pods")) {
                    throw new Refused("The claim is not reserved for a pod");
                }
            }
        }
    }

    @Mutant(
            id = "M-210",
            what = "answers without share ids, and publishes no request policies",
            with = ClaimVariants.WithoutPolicies.class,
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-PREP-21: the answer has the share ids")
    static final class Shareless extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            held.path("devices").forEach(device -> ((ObjectNode) device).put("share", ""));
            return super.devices(held);
        }
    }

    @Mutant(
            id = "M-212",
            what = "looks shares up by name, without their pool, and refuses results without capacity",
            with = ClaimVariants.WithoutPolicies.class,
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-PREP-16: was prepared, although its device is in a pool that the")
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
    @Mutant(
            id = "M-211",
            what = "keeps the devices of a claim that it refuses for another device",
            collateral = {"DRA-PREP-13", "DRA-SLICE-19"})
    @Violation("DRA-PREP-09: the prepare of a claim failed and still holds device")
    @Violation("DRA-UNP-07: is not free after a prepare that failed and its unprepare")
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
}

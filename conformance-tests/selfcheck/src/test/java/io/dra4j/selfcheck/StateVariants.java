// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/** Keeps other records of claims, or trusts them less. */
final class StateVariants {

    private StateVariants() {}

    /** Knows of claims what is in their specs. */
    @Altered(id = "H-10")
    static final class NoState extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> read() {
            return Optional.empty();
        }

        @Override
        void write(Map<String, ObjectNode> claims) {}
    }

    @Altered(id = "H-13")
    static final class CheckingFirst extends BareDriver {
        @Override
        void start() throws IOException {
            calls.work.state.read().ifPresent(LinkedHashMap::new);
            super.start();
        }
    }

    static final class Noting extends StateFile {
        boolean lost;

        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            lost = true;
            return super.damaged(problem);
        }
    }

    @Altered(id = "H-64", with = Noting.class)
    static final class AllocatedIsHeld extends ClaimWork {
        private final Set<String> released = new HashSet<>();

        @Override
        void checkFree(ObjectNode fresh, Map<String, ObjectNode> held) {
            super.checkFree(fresh, held);
            JsonNode claims =
                    ((Noting) state).lost ? driver.api.get("/apis/resource.k8s.io/v1/resourceclaims") : Json.object();
            for (JsonNode claim : claims.path("items")) {
                String uid = claim.at("/metadata/uid").asText();
                if (!uid.equals(fresh.path("uid").asText())
                        && !released.contains(uid)
                        && !results(claim).isEmpty()) {
                    ObjectNode other = plan(new ClaimId("", "", uid), claim);
                    fresh.path("devices").forEach(device -> checkFree(device, other));
                }
            }
        }

        @Override
        void release(String uid) {
            super.release(uid);
            released.add(uid);
        }
    }

    /** Claims whose specs vanished while it was down, in the same boot, are not to be trusted. */
    @Altered(id = "H-23b")
    static final class OfThisBoot extends ClaimWork {
        private final Set<String> doubted = new HashSet<>();

        @Override
        void start() {
            super.start();
            for (String uid : state.locked(() -> Set.copyOf(held().keySet()))) {
                if (!Files.exists(driver.cdi.file(uid))) {
                    doubted.add(uid);
                }
            }
        }

        @Override
        ObjectNode establish(ClaimId id, JsonNode claim) {
            if (doubted.contains(id.uid())) {
                throw new Refused("The CDI spec of the claim was removed by another process");
            }
            return super.establish(id, claim);
        }
    }

    /** The hook renumber moves the names, and claims are refused then. */
    @Altered(id = "H-39", with = InventoryMutants.ByMinor.class)
    static final class Wary extends ClaimWork {
        @Override
        void check(ClaimId id) {
            super.check(id);
            if (((InventoryMutants.ByMinor) driver.inventory).moved) {
                throw new Refused("The device of the claim is other hardware now");
            }
        }
    }

    /** The names are those of the hardware: the hook renumber changes nothing. */
    @Altered(id = "H-40")
    static final class Steady extends Inventory {}

    @Altered(id = "H-82")
    static class Slots extends ClaimWork {
        /** Under the lock of the node. */
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            ObjectNode fresh = super.plan(id, claim);
            int slot = slot(id.uid());
            for (JsonNode device : fresh.put("slot", slot).path("devices")) {
                ((ObjectNode) device).withArray("env").add("SLOT=" + slot);
            }
            return fresh;
        }

        int slot(String uid) {
            Set<Integer> taken = taken();
            int slot = 0;
            while (taken.contains(slot)) {
                slot++;
            }
            return slot;
        }

        Set<Integer> taken() {
            return held().values().stream()
                    .map(held -> held.path("slot").asInt())
                    .collect(Collectors.toSet());
        }
    }

    /** Claims that share a queue are none the worse. */
    @Altered(id = "H-83a")
    static final class QueuesByHash extends Slots {
        @Override
        int slot(String uid) {
            return Math.floorMod(uid.hashCode(), 64);
        }
    }

    @Altered(id = "H-83b")
    static final class QueuesByChance extends Slots {
        @Override
        int slot(String uid) {
            return ThreadLocalRandom.current().nextInt(16);
        }
    }
}

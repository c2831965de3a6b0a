// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.selfcheck.ClaimOutcome.Prepared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Prepares and unprepares one claim: the record of the intent comes first, then the effects, then
 * the record that all is done, so that a crash leaves nothing that is not known.
 */
class ClaimWork {

    private static final long LOOK = 10_000;

    final BareDriver driver = Parts.driver();
    final StateFile state = driver.parts.make(StateFile.class);

    /** The remains of an earlier boot count for nothing. */
    void start() {
        if (state.isOfEarlierBoot()) {
            state.locked(() -> {
                held().keySet().forEach(driver.cdi::delete);
                state.write(Map.of());
                return true;
            });
        }
    }

    /** Writes specs again that have vanished: no one asks for a prepare because of that. */
    void keepSpecs() {
        while (true) {
            Pauses.millis(LOOK);
            try {
                state.locked(() -> {
                    held().values().stream()
                            .filter(held -> held.path("done").asBoolean() && driver.cdi.isMissing(held))
                            .forEach(driver.cdi::write);
                    return true;
                });
            } catch (RuntimeException e) {
                Life.current().log("Specs may be missing: " + e.getMessage());
            }
        }
    }

    ClaimOutcome prepare(ClaimId id) {
        try {
            return ClaimOutcome.of(devices(work(id)));
        } catch (RuntimeException e) {
            return ClaimOutcome.failed(message(e));
        }
    }

    String message(RuntimeException problem) {
        String message = String.valueOf(problem.getMessage());
        return message.substring(0, Math.min(1000, message.length()));
    }

    ObjectNode work(ClaimId id) {
        check(id);
        JsonNode claim = fetch(id);
        checkUid(id, claim);
        checkAllocated(claim);
        ObjectNode held = state.locked(() -> establish(id, claim));
        driver.reports.report(claim, held);
        return held;
    }

    void check(ClaimId id) {
        if (!id.isSane()) {
            throw new Refused("The claim has a name, a namespace or a UID that no claim can have");
        }
    }

    JsonNode fetch(ClaimId id) {
        return driver.api.get(ApiClient.claim(id));
    }

    void checkUid(ClaimId id, JsonNode claim) {
        if (!claim.at("/metadata/uid").asText().equals(id.uid())) {
            throw new Refused("The claim was replaced by another one of its name");
        }
    }

    void checkAllocated(JsonNode claim) {
        if (claim.at("/status/allocation").isMissingNode()) {
            throw new Refused("The claim is not allocated");
        }
    }

    /** Under the lock. */
    ObjectNode establish(ClaimId id, JsonNode claim) {
        Map<String, ObjectNode> held = held();
        ObjectNode known = held.get(id.uid());
        if (known != null && known.path("done").asBoolean()) {
            repeat(known);
            return known;
        }
        ObjectNode fresh = plan(id, claim);
        checkFree(fresh, held);
        checkShares(fresh, held);
        return carryOut(held, fresh);
    }

    ObjectNode carryOut(Map<String, ObjectNode> held, ObjectNode fresh) {
        begin(held, fresh);
        try {
            effects(fresh);
            finish(held, fresh);
        } catch (RuntimeException e) {
            undo(held, fresh);
            throw e;
        }
        return fresh;
    }

    Map<String, ObjectNode> held() {
        return state.read().orElseGet(driver.cdi::records);
    }

    void repeat(ObjectNode known) {
        driver.metadata.write(known);
        driver.cdi.restore(known);
    }

    void begin(Map<String, ObjectNode> held, ObjectNode fresh) {
        held.put(fresh.path("uid").asText(), fresh.put("done", false));
        state.write(held);
    }

    void effects(ObjectNode fresh) {
        driver.metadata.write(fresh);
        driver.cdi.write(fresh);
    }

    void finish(Map<String, ObjectNode> held, ObjectNode fresh) {
        fresh.put("done", true);
        state.write(held);
    }

    void undo(Map<String, ObjectNode> held, ObjectNode fresh) {
        try {
            release(fresh.path("uid").asText());
            held.remove(fresh.path("uid").asText());
            state.write(held);
        } catch (Refused e) {
            Life.current().log("Left to unprepare: " + e.getMessage());
        }
    }

    ObjectNode plan(ClaimId id, JsonNode claim) {
        ObjectNode held = Json.object().put("uid", id.uid());
        held.put("namespace", id.namespace()).put("name", id.name());
        List<JsonNode> results = results(claim);
        if (results.isEmpty()) {
            throw new Refused("The claim has no device of " + driver.settings.driver());
        }
        for (JsonNode result : results) {
            describe(held, claim, result);
        }
        return held;
    }

    /** The results that are this driver's. */
    List<JsonNode> results(JsonNode claim) {
        return Json.list(claim.at("/status/allocation/devices/results")).stream()
                .filter(this::isOwn)
                .toList();
    }

    boolean isOwn(JsonNode result) {
        return result.path("driver").asText().equals(driver.settings.driver());
    }

    void describe(ObjectNode held, JsonNode claim, JsonNode result) {
        String uid = held.path("uid").asText();
        String device = result.path("device").asText();
        String share = result.path("shareID").asText();
        checkExists(result);
        ObjectNode described = held.withArray("devices").addObject();
        described.putArray("requests").add(result.path("request").asText().split("/")[0]);
        described.put("request", result.path("request").asText());
        described.put("pool", result.path("pool").asText()).put("device", device);
        described.put("share", share).put("exclusive", isExclusive(result));
        if (result.has("consumedCapacity")) {
            described.set("consumed", result.path("consumedCapacity").deepCopy());
        }
        driver.cdi.ids(uid, device, share).forEach(described.withArray("cdi")::add);
        environment(uid, claim, result).forEach(described.withArray("env")::add);
        driver.metadata.describe(held, described);
    }

    boolean isExclusive(JsonNode result) {
        return !result.path("adminAccess").asBoolean()
                && result.path("shareID").asText().isEmpty();
    }

    void checkExists(JsonNode result) {
        String device = result.path("device").asText();
        List<ObjectNode> pool = driver.inventory.pools().get(acceptedPool(result));
        if (pool == null || pool.stream().noneMatch(d -> d.path("name").asText().equals(device))) {
            throw new Refused("There is no device " + device + " in pool " + result.path("pool"));
        }
    }

    String acceptedPool(JsonNode result) {
        return result.path("pool").asText();
    }

    List<String> environment(String uid, JsonNode claim, JsonNode result) {
        String device = result.path("device").asText();
        String variable = "GPU_DEVICE_"
                + device.replaceFirst("^gpu-", "").toUpperCase(Locale.ROOT).replace('-', '_');
        List<String> environment = new ArrayList<>();
        environment.add(variable + "=" + device);
        environment.add(variable + "_RESOURCE_CLAIM=" + uid);
        driver.configs.of(claim, result).entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(entry -> environment.add(variable + "_" + entry.getKey() + "=" + entry.getValue()));
        for (Map.Entry<String, JsonNode> amount :
                result.path("consumedCapacity").properties()) {
            String name = variable + "_" + own(amount.getKey()).toUpperCase(Locale.ROOT);
            environment.add(name + "=" + amount.getValue().asText());
        }
        if (isPrivileged(claim, result)) {
            environment.add("DRA_ADMIN_ACCESS=true");
        }
        return environment;
    }

    /** The form without a domain of a name that is the driver's own. */
    String own(String name) {
        return name.startsWith(driver.settings.driver() + "/") ? name.substring(name.indexOf('/') + 1) : name;
    }

    boolean isPrivileged(JsonNode claim, JsonNode result) {
        return result.path("adminAccess").asBoolean();
    }

    void checkFree(ObjectNode fresh, Map<String, ObjectNode> held) {
        for (ObjectNode other : List.copyOf(held.values())) {
            if (!other.path("uid").equals(fresh.path("uid"))) {
                try {
                    fresh.path("devices").forEach(device -> checkFree(device, other));
                } catch (Refused e) {
                    if (!isForgotten(other)) {
                        throw e;
                    }
                    release(other.path("uid").asText());
                    held.remove(other.path("uid").asText());
                }
            }
        }
    }

    /** Returns whether the kubelet, which has lost its state, will never unprepare a claim that is over. */
    boolean isForgotten(ObjectNode other) {
        String uid = other.path("uid").asText();
        try {
            Path known = driver.settings.data().resolveSibling("../dra_manager_state");
            if (Files.readString(known.normalize()).contains(uid)) {
                return false;
            }
            JsonNode claim = driver.api.get(ApiClient.claim(new ClaimId(
                    other.path("namespace").asText(), other.path("name").asText(), uid)));
            return !claim.at("/metadata/uid").asText().equals(uid)
                    || claim.at("/status/allocation").isMissingNode();
        } catch (ApiClient.Failed e) {
            return e.status == 404;
        } catch (IOException e) {
            return false; // it is not to be seen
        }
    }

    /** Shares of a device take no more than it has. */
    void checkShares(ObjectNode fresh, Map<String, ObjectNode> held) {
        Map<String, Long> taken = new HashMap<>();
        held.values().stream()
                .filter(other -> !other.path("uid").equals(fresh.path("uid")))
                .forEach(other -> other.path("devices").forEach(device -> count(device, taken)));
        fresh.path("devices").forEach(device -> count(device, taken));
        driver.inventory
                .pools()
                .forEach((pool, devices) -> devices.forEach(device -> {
                    for (Map.Entry<String, JsonNode> one :
                            device.path("capacity").properties()) {
                        String key = pool + "/" + device.path("name").asText() + "/" + counted(one.getKey());
                        if (taken.getOrDefault(key, 0L) > amount(one.getValue().path("value"))) {
                            throw new Refused("There is not as much left of " + key);
                        }
                    }
                }));
    }

    private void count(JsonNode device, Map<String, Long> taken) {
        String key = device.path("pool").asText() + "/" + device.path("device").asText() + "/";
        for (Map.Entry<String, JsonNode> one : device.path("consumed").properties()) {
            taken.merge(key + counted(one.getKey()), amount(one.getValue()), Long::sum);
        }
    }

    String counted(String name) {
        return own(name);
    }

    /** All capacities are in Gi. */
    private static long amount(JsonNode quantity) {
        return Long.parseLong(quantity.asText().replaceAll("\\D", ""));
    }

    void checkFree(JsonNode device, ObjectNode other) {
        for (JsonNode taken : other.path("devices")) {
            if (device.path("exclusive").asBoolean()
                    && taken.path("exclusive").asBoolean()
                    && device.path("pool").equals(taken.path("pool"))
                    && overlap(
                            device.path("device").asText(), taken.path("device").asText())) {
                throw new Refused("Device "
                        + device.path("device").asText()
                        + " is held by the claim "
                        + other.path("uid").asText());
            }
        }
    }

    /** A GPU as a whole excludes its partitions. */
    boolean overlap(String one, String other) {
        return one.equals(other) || covers(one, other) || covers(other, one);
    }

    private static boolean covers(String whole, String part) {
        return whole.endsWith("-full") && part.startsWith(whole.substring(0, whole.length() - "full".length()));
    }

    List<Prepared> devices(ObjectNode held) {
        List<Prepared> devices = new ArrayList<>();
        for (JsonNode device : held.path("devices")) {
            devices.add(new Prepared(
                    Json.texts(device.path("requests")),
                    device.path("pool").asText(),
                    device.path("device").asText(),
                    Json.texts(device.path("cdi")),
                    device.path("share").asText()));
        }
        return devices;
    }

    /** Returns what went wrong, or nothing. */
    String unprepare(ClaimId id) {
        try {
            undo(id);
            return "";
        } catch (RuntimeException e) {
            return message(e);
        }
    }

    void undo(ClaimId id) {
        if (!id.hasSaneUid()) {
            return; // can't have been prepared
        }
        state.locked(() -> {
            Map<String, ObjectNode> held = new LinkedHashMap<>(held());
            ObjectNode known = held.get(id.uid());
            forget(id, held, known == null ? Json.object() : known);
            return true;
        });
    }

    /** Under the lock; a claim that is not known is an empty record. */
    void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
        release(id.uid());
        if (held.remove(id.uid()) != null) {
            state.write(held);
        }
    }

    void release(String uid) {
        driver.cdi.delete(uid);
        driver.metadata.delete(uid);
    }
}

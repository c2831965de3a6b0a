// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** The cluster's administrator, who does things that are allowed but not wise; each step can be repeated. */
public final class Administrator {

    static final String RULES = "devicetaintrules";
    private static final List<String> OF_ONE_OBJECT = List.of("uid", "resourceVersion", "creationTimestamp");

    private static final Duration COLLECTION = Duration.ofSeconds(10);

    private final Site site;
    private final ClusterObjects api;
    private final MaintenanceFiles maintenance;

    public Administrator(Site site, ClusterObjects api, Function<String, Path> paths) {
        this.site = site;
        this.api = api;
        this.maintenance = new MaintenanceFiles(paths.apply("/var/lib/kubelet/plugins/" + site.driver()));
    }

    /** Returns the objects that people have created in the cluster, from {@code objects.json}. */
    static JsonNode objects(Site site, String device) {
        try (InputStream text = requireNonNull(Administrator.class.getResourceAsStream("objects.json"))) {
            return new JsonMapper()
                    .readTree(new String(text.readAllBytes(), StandardCharsets.UTF_8)
                            .replace("DRIVER", site.driver())
                            .replace("NODE", site.node())
                            .replace("DEVICE", device));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates the Node object, unless it exists. */
    public void createNode() {
        if (api.find("nodes", "", site.node()).isEmpty()) {
            api.put(objects(site, "").path("node"));
        }
    }

    public void deleteNode() {
        api.find("nodes", "", site.node()).ifPresent(node -> api.delete("nodes", "", site.node()));
    }

    /** Deletes the slices of a deleted node, including those created late, as the garbage collector does. */
    public void collectGarbage() {
        long looked = -1;
        while (true) {
            Simulation.await(() -> false, COLLECTION.toNanos());
            if (api.revision() != looked) {
                JsonNode uid = api.find("nodes", "", site.node())
                        .map(node -> node.at("/metadata/uid"))
                        .orElse(MissingNode.getInstance());
                deleteSlices(slice -> slice.at("/metadata/ownerReferences").findValues("uid").stream()
                        .anyMatch(owner -> !owner.equals(uid)));
                looked = api.revision();
            }
        }
    }

    /** Deletes the driver's slices. */
    public void wipePools() {
        deleteSlices(slice -> slice.at("/spec/driver").asText().equals(site.driver()));
    }

    private void deleteSlices(Predicate<JsonNode> which) {
        for (JsonNode slice : api.list("resourceslices")) {
            if (which.test(slice)) {
                api.delete("resourceslices", "", slice.at("/metadata/name").asText());
            }
        }
    }

    /** Changes the driver's slices, or creates them a second time, like somebody who restores a backup. */
    public void changeSlices() {
        if (Simulation.random().nextBoolean()) {
            shortenSlices();
        } else {
            copySlices();
        }
    }

    /** Removes the last device from each of the driver's slices. */
    private void shortenSlices() {
        for (JsonNode slice : api.list("resourceslices")) {
            int devices = slice.at("/spec/devices").size();
            if (devices > 0 && slice.at("/spec/driver").asText().equals(site.driver())) {
                api.change(
                        "resourceslices",
                        "",
                        slice.at("/metadata/name").asText(),
                        changed -> ((ArrayNode) changed.at("/spec/devices")).remove(devices - 1));
            }
        }
    }

    private void copySlices() {
        for (JsonNode slice : api.list("resourceslices")) {
            ObjectNode copy = slice.deepCopy();
            ObjectNode metadata = copy.withObject("/metadata");
            metadata.put("name", "copy-" + metadata.path("name").asText()).remove(OF_ONE_OBJECT);
            metadata.withObject("/annotations").put("unexpected", "copy");
            if (slice.at("/spec/driver").asText().equals(site.driver())) {
                api.put(copy);
            }
        }
    }

    /** Deletes a claim, prepared or not. */
    public void deleteByForce(ClaimRef claim) {
        api.delete(ClaimScheduler.CLAIMS, claim.namespace(), claim.name());
    }

    /** Keeps claims away from a device, if the release has rules for that. */
    public void taint(String device) {
        if (api.serves(RULES)) {
            api.put(objects(site, device).path("taint"));
        }
    }

    public void untaint(String device) {
        if (api.serves(RULES)) {
            api.delete(RULES, "", device);
        }
    }

    /** Ends all pods. */
    public void drain(ClaimScheduler scheduler) {
        scheduler.pods().stream().filter(pod -> !pod.isEnded()).forEach(scheduler::end);
    }

    /** Asks the driver to keep claims away from a device, or from all (a star), as its command does: by a file. */
    public void beginMaintenance(String device) {
        String now = Simulation.now().toString();
        maintenance.write(new Maintenance(now, List.of(device), "NoSchedule", now));
    }

    public void endMaintenance() {
        maintenance.remove();
    }
}

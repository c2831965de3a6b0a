// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.simulation.node.Plugin;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** A minimal driver, which never crashes, for testing a driver's surroundings. */
final class StandIn implements Plugin, AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();

    final NodeFiles files;
    final Journal journal;
    final Hardware hardware;
    final ClusterObjects api;
    final List<String> calls = new ArrayList<>();
    Runnable before = () -> {}; // each call

    private final Site site;
    private final LockFile locks;

    StandIn(Site site, ClusterObjects api, NodeFiles files, Path data, Hardware hardware) throws IOException {
        this.site = site;
        this.api = api;
        this.files = files;
        this.hardware = hardware;
        Files.createDirectories(data);
        Files.createDirectories(files.spec("any").getParent());
        locks = LockFile.open(data.resolve("claims.lock"));
        journal = Journal.open(data.resolve("claims.journal"), "any", locks, Meters.none());
    }

    @Override
    public Map<ClaimRef, Answer> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft) {
        calls.add("prepare");
        before.run();
        Map<ClaimRef, Answer> answers = new LinkedHashMap<>();
        claims.forEach(ref -> answers.put(ref, new Answer(null, prepare(ref))));
        return answers;
    }

    private List<Device> prepare(ClaimRef ref) {
        JsonNode results = api.find(ClaimScheduler.CLAIMS, ref.namespace(), ref.name())
                .orElseThrow()
                .at("/status/allocation/devices/results");
        List<Device> devices = new ArrayList<>();
        List<HeldDevice> held = new ArrayList<>();
        results.forEach(one -> {
            HeldDevice device = Invariants.held(one);
            held.add(device);
            devices.add(device(ref, device));
        });
        try {
            for (HeldDevice device : held) {
                for (Hardware.Setting setting : hardware.needs(device, ref.uid())) {
                    hardware.set(setting);
                }
            }
            Files.writeString(files.spec(ref.uid()), spec(ref, held));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ClaimRecord.Results none = new ClaimRecord.Results(List.of(), ContainerEdits.NONE);
        journal.put(new ClaimRecord(ref, HeldClaim.Phase.PREPARED, "any", held, null, none, null, null, null));
        report(ref, held);
        return devices;
    }

    static Device device(ClaimRef ref, HeldDevice device) {
        String name = device.device().value();
        return new Device(device.pool().value(), name, List.of("sim/claim=" + ref.uid() + "-" + name), null);
    }

    static String spec(ClaimRef ref, List<HeldDevice> devices) {
        ObjectNode spec = JSON.createObjectNode().put("kind", "sim/claim");
        devices.forEach(device -> spec.withArray("devices")
                .addObject()
                .put("name", ref.uid() + "-" + device.device())
                .withArray("/containerEdits/env")
                .add(ModelProvider.variable(device.device().value()) + "=any"));
        return spec.toString();
    }

    private void report(ClaimRef ref, List<HeldDevice> devices) {
        ArrayNode entries = JSON.createArrayNode();
        devices.stream()
                .map(device -> device.device().value())
                .filter(name -> name.startsWith("mode"))
                .forEach(name -> entries.addObject()
                        .put("driver", site.driver())
                        .put("pool", site.node())
                        .put("device", name));
        api.changeStatus(
                ClaimScheduler.CLAIMS,
                ref.namespace(),
                ref.name(),
                claim -> claim.withObject("/status").set("devices", entries));
    }

    @Override
    public Map<String, Answer> unprepare(List<String> uids, Instant deadline) {
        calls.add("unprepare");
        before.run();
        Map<String, Answer> answers = new LinkedHashMap<>();
        for (String uid : uids) {
            try {
                for (Hardware.Setting setting : hardware.of(uid)) {
                    hardware.clear(setting);
                }
                Files.deleteIfExists(files.spec(uid));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            journal.forget(uid);
            answers.put(uid, new Answer(null, List.of()));
        }
        return answers;
    }

    /** Publishes the devices that need no feature of a later release. */
    void publishSlice() {
        ObjectNode slice =
                JSON.createObjectNode().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceSlice");
        slice.withObject("/metadata").put("name", "slice");
        api.find("nodes", "", site.node())
                .ifPresent(node -> slice.withArray("/metadata/ownerReferences")
                        .addObject()
                        .put("apiVersion", "v1")
                        .put("kind", "Node")
                        .put("name", site.node())
                        .put("uid", node.at("/metadata/uid").asText()));
        slice.withObject("/spec").put("driver", site.driver()).put("nodeName", site.node());
        slice.withObject("/spec/pool")
                .put("name", site.node())
                .put("generation", 1)
                .put("resourceSliceCount", 1);
        hardware.devices().stream()
                .filter(name -> name.startsWith("plain") || name.startsWith("mode"))
                .filter(hardware::isPresent)
                .forEach(name -> {
                    String[] parts = hardware.describe(name).split(" ", 3);
                    ObjectNode device =
                            slice.withArray("/spec/devices").addObject().put("name", name);
                    device.withObject("/attributes/model").put("string", parts[0]);
                    device.withObject("/attributes/uuid").put("string", parts[1]);
                });
        api.put(slice);
    }

    @Override
    public void close() {
        journal.close();
        locks.close();
    }
}

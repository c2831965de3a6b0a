// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.ResultDevice;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.tools.audit.KubeletState.KubeletClaim;
import io.dra4j.tools.audit.Views.AuditedDriver;
import io.dra4j.tools.audit.Views.OtherCheckpoint;
import io.dra4j.tools.audit.Views.SpecFiles;
import io.dra4j.tools.audit.Views.View;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/** A node with claims, as all its views would have it; tests then change one of them. */
final class NodeModel {

    static final String DRIVER = "gpu.example.com";
    static final String BOOT = "boot-2";

    final AuditedDriver driver =
            new AuditedDriver(DRIVER, "node-1", Path.of("/var/lib/kubelet/plugins", DRIVER), Path.of("/var/run/cdi"));
    final Map<String, ClaimRecord> journal = new LinkedHashMap<>(); // by UID
    final Map<String, List<String>> specs = new LinkedHashMap<>();
    final Map<String, KubeletClaim> kubelet = new LinkedHashMap<>();
    final Map<ClaimRef, ClaimObject> claims = new LinkedHashMap<>();
    final List<Device> devices = new ArrayList<>();
    final List<String> other = new ArrayList<>(); // UIDs
    private final Random random;
    private int number;

    /** Creates a healthy node. */
    NodeModel(Random random) {
        this.random = random;
        int gpus = 2 + random.nextInt(6);
        for (int i = 0; i < gpus; i++) {
            Device.Builder device = Device.builder("gpu-" + i);
            if (random.nextBoolean()) {
                device.physicalId("GPU-" + i);
            }
            if (i % 3 == 2) {
                device.allowMultipleAllocations(true);
            }
            devices.add(device.build());
        }
        for (int i = 0; i < gpus; i++) {
            if (i < 2 || random.nextBoolean()) {
                hold(devices.get(i));
            }
        }
        if (random.nextInt(4) == 0) {
            other.addAll(journal.keySet()); // the other driver's claims were taken over
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            allocateElsewhere();
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            allocateHere();
        }
    }

    private void hold(Device device) {
        int holders = device.allowMultipleAllocations() ? 1 + random.nextInt(3) : 1;
        for (int i = 0; i < holders; i++) {
            String share = device.allowMultipleAllocations() ? uuid() : null;
            prepared(held(device, share, false), number == 0 || random.nextInt(10) > 0);
        }
        if (random.nextInt(4) == 0) {
            prepared(held(device, null, true), true);
        }
    }

    private static HeldDevice held(Device device, String share, boolean admin) {
        return HeldDevice.builder("gpu", new PoolName("node-1"), device.name())
                .shareId(share)
                .adminAccess(admin)
                .physicalId(device.physicalId())
                .build();
    }

    /** Prepares a claim in all views. */
    ClaimRef prepared(HeldDevice device, boolean hasEdits) {
        ClaimRef ref = new ClaimRef("ns-" + random.nextInt(2), "claim-" + number++, uuid());
        ContainerEdits edits =
                hasEdits ? ContainerEdits.builder().env("GPU", "1").build() : ContainerEdits.NONE;
        journal.put(
                ref.uid(),
                new ClaimRecord(
                        ref,
                        Phase.PREPARED,
                        BOOT,
                        List.of(device),
                        null,
                        new Results(List.of(new ResultDevice(device, edits, List.of())), ContainerEdits.NONE),
                        null,
                        null,
                        null));
        String share = device.shareId() == null ? "" : "-" + device.shareId();
        if (hasEdits) {
            specs.put(ref.uid(), List.of(ref.uid() + "-" + device.device() + share));
        }
        boolean awaitsOther = number > 1 && random.nextInt(10) == 0; // driver of the same pod
        List<String> devices = awaitsOther ? List.of() : List.of(device.pool() + "/" + device.device());
        kubelet.put(ref.uid(), new KubeletClaim(ref, List.of(uuid()), devices));
        claims.put(ref, object(ref, DRIVER, device));
        return ref;
    }

    private void allocateElsewhere() {
        ClaimRef ref = new ClaimRef("other", "claim-" + number++, uuid());
        if (random.nextBoolean()) { // a claim of other drivers, which this node uses
            ClaimRef nic = new ClaimRef("other", "claim-" + number++, uuid());
            kubelet.put(nic.uid(), new KubeletClaim(nic, List.of(uuid()), List.of()));
        }
        HeldDevice device = HeldDevice.builder("gpu", new PoolName("node-2"), new DeviceName("gpu-0"))
                .build();
        String owner = random.nextBoolean() ? DRIVER : "nic.example.com";
        claims.put(
                ref,
                random.nextInt(4) == 0 ? new ClaimObject(ref.uid(), null, Map.of(), "{}") : object(ref, owner, device));
    }

    /** It is allocated here, and its pod not started yet. */
    private void allocateHere() {
        ClaimRef ref = new ClaimRef("other", "claim-" + number++, uuid());
        HeldDevice device = HeldDevice.builder("gpu", new PoolName("node-1"), new DeviceName("gpu-1"))
                .build();
        claims.put(ref, object(ref, DRIVER, device));
    }

    static ClaimObject object(ClaimRef ref, String driver, HeldDevice device) {
        return new ClaimObject(
                ref.uid(),
                new ClaimObject.Allocation(
                        List.of(new ClaimObject.Result(
                                driver,
                                device.request(),
                                device.pool().value(),
                                device.device().value(),
                                device.shareId(),
                                device.consumedCapacity(),
                                device.adminAccess(),
                                Set.of())),
                        List.of()),
                Map.of(),
                "{\"status\":{\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"pod-of-" + ref.name() + "\"}]}}");
    }

    private String uuid() {
        return new UUID(random.nextLong(), random.nextLong()).toString();
    }

    /** Returns the claim that the test may change: it has the first GPU, and a spec. */
    ClaimRecord first() {
        return journal.values().iterator().next();
    }

    Views views() {
        return new Views(
                driver,
                BOOT,
                View.of(JournalReading.of(List.copyOf(journal.values()))),
                View.of(new SpecFiles(specs)),
                View.of(new KubeletState(List.copyOf(kubelet.values()), "")),
                View.of(claims),
                View.of(Inventory.of(Pool.ofNode("node-1", devices))),
                View.of(new OtherCheckpoint(other, "")));
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.HeldDevice;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes a checkpoint as NVIDIA's driver would: that driver compares the checksum with that of its own output, so the
 * order of members matters, and absent members must be left out.
 */
public final class GoCheckpointWriter {

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final String driver;
    private final String bootId;
    private final GoForm form;
    private final Map<String, List<Group>> claims = new TreeMap<>(); // by UID, as Go sorts them

    /**
     * Begins a checkpoint without claims.
     *
     * @param form the members that the reader knows
     */
    public GoCheckpointWriter(String driver, String bootId, GoForm form) {
        this.driver = driver;
        this.bootId = bootId;
        this.form = form;
    }

    /**
     * Devices of a claim that share a configuration.
     *
     * @param isTimeSliced whether their time slices were set
     */
    public record Group(List<Entry> devices, boolean isTimeSliced) {

        public Group {
            devices = List.copyOf(devices);
        }
    }

    /**
     * A prepared device.
     *
     * @param mig the MIG device; null for a whole GPU
     */
    public record Entry(
            HeldDevice device, String uuid, @Nullable MigEntry mig) {}

    public record MigEntry(int parentMinor, int gpuInstance, int computeInstance, String parent, String pci) {}

    public void add(String uid, List<Group> groups) {
        claims.put(uid, List.copyOf(groups));
    }

    public byte[] toBytes() {
        ObjectNode first = JSON.objectNode();
        ObjectNode second = JSON.objectNode();
        claims.forEach((uid, groups) -> {
            ObjectNode status = status(groups);
            ArrayNode devices = prepared(uid, groups);
            first.putObject(uid).<ObjectNode>set("status", status).set("preparedDevices", devices);
            second.putObject(uid)
                    .put("checkpointState", "PrepareCompleted")
                    .<ObjectNode>set("status", status)
                    .set("preparedDevices", devices);
        });
        ObjectNode v1 = withClaims(JSON.objectNode(), first);
        ObjectNode v2 = withClaims(JSON.objectNode().put("checksum", 0), second);
        if (form.hasBootId()) {
            v2.put("nodeBootID", bootId);
        }
        v2.put("checksum", sum(v2));
        ObjectNode viewOfFirst = JSON.objectNode().put("checksum", 0).set("v1", v1);
        ObjectNode file = JSON.objectNode().put("checksum", sum(viewOfFirst));
        file.set("v1", v1);
        file.set("v2", v2);
        return bytes(file);
    }

    private static ObjectNode withClaims(ObjectNode version, ObjectNode claims) {
        return claims.isEmpty() ? version : version.set("preparedClaims", claims);
    }

    private static long sum(ObjectNode json) {
        return GoChecksum.of(bytes(json));
    }

    private static byte[] bytes(ObjectNode json) {
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the part of the status that NVIDIA's driver reads back: the devices. */
    private ObjectNode status(List<Group> groups) {
        ObjectNode status = JSON.objectNode();
        ArrayNode results = status.withArray("/allocation/devices/results");
        for (Group group : groups) {
            for (Entry entry : group.devices()) {
                HeldDevice device = entry.device();
                ObjectNode result = results.addObject()
                        .put("request", request(device))
                        .put("driver", driver)
                        .put("pool", device.pool().value())
                        .put("device", device.device().value());
                if (device.adminAccess()) {
                    result.put("adminAccess", true);
                }
            }
        }
        return status;
    }

    private static String request(HeldDevice device) {
        return device.subrequest() == null ? device.request() : device.request() + "/" + device.subrequest();
    }

    private ArrayNode prepared(String uid, List<Group> groups) {
        ArrayNode all = JSON.arrayNode();
        for (Group group : groups) {
            ObjectNode one = all.addObject();
            ArrayNode devices = one.putArray("devices");
            group.devices().forEach(entry -> devices.add(prepared(uid, entry)));
            ObjectNode state = one.putObject("configState");
            if (form.hasDaemonId()) {
                state.put("mpsControlDaemonID", "");
            }
            if (form.hasTimeSlices()) {
                state.put("timeSliceApplied", group.isTimeSliced());
            }
        }
        return all;
    }

    private ObjectNode prepared(String uid, Entry entry) {
        HeldDevice device = entry.device();
        ObjectNode answered = JSON.objectNode();
        answered.putArray("Requests").add(request(device));
        answered.put("PoolName", device.pool().value())
                .put("DeviceName", device.device().value());
        answered.putArray("CDIDeviceIDs").add("k8s.%s/claim=%s-%s".formatted(driver, uid, device.device()));
        ObjectNode prepared = JSON.objectNode();
        MigEntry mig = entry.mig();
        if (mig == null) {
            ObjectNode gpu = prepared.putObject("gpu");
            gpu.putObject("info").put("uuid", entry.uuid());
            gpu.set("device", answered);
            prepared.putNull("mig");
        } else {
            prepared.putNull("gpu");
            ObjectNode made = prepared.putObject("mig");
            ObjectNode concrete = made.putObject("concrete")
                    .put("parentMinor", mig.parentMinor())
                    .put("giId", mig.gpuInstance())
                    .put("ciId", mig.computeInstance())
                    .put("migUUID", entry.uuid())
                    .put("parentUUID", mig.parent());
            if (form.hasParentAddress()) {
                concrete.put("parentPCIBusID", mig.pci());
            }
            made.set("device", answered);
        }
        return prepared;
    }
}

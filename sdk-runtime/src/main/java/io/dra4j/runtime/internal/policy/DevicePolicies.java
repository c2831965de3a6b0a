// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.EventRecorder;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that admins change about the devices of a node: the policy of a file, and maintenance.
 *
 * <p>{@link #apply} is for any thread, the others for one.
 */
public final class DevicePolicies {

    private final String driverName;
    private final @Nullable PolicyFile file;
    private volatile @Nullable Maintenance maintenance;

    /**
     * Loads the policy.
     *
     * @param file the policy; {@code null} for none
     * @param events receives what is wrong with it later, and its end
     * @throws DraException if it can't be applied
     */
    public DevicePolicies(String driverName, String nodeName, @Nullable Path file, EventRecorder events) {
        this.driverName = driverName;
        this.file = file == null ? null : new PolicyFile(file, new PolicyReader(driverName, nodeName), events);
    }

    /**
     * Checks the policy with the devices of this node, at the start.
     *
     * @throws DraException if it can't be applied to them
     */
    public void check(Inventory inventory) {
        if (file != null) {
            file.check(inventory);
        }
    }

    /** Returns the inventory as it is published. */
    public Inventory apply(Inventory inventory) {
        return tainted(file == null ? inventory : file.current().apply(inventory));
    }

    private Inventory tainted(Inventory inventory) {
        Maintenance now = maintenance;
        return now == null ? inventory : now.policy(driverName).apply(inventory);
    }

    /**
     * Returns a device as the cluster has it, in maintenance or no longer: all else of it is what
     * an earlier process published, with the policy of its time.
     */
    public Device applyToStored(Device stored) {
        String key = Maintenance.key(driverName);
        Device untainted = stored.toBuilder()
                .taints(stored.taints().stream()
                        .filter(t -> !t.key().equals(key))
                        .toList())
                .build();
        Maintenance now = maintenance;
        return now == null ? untainted : now.policy(driverName).apply(untainted).orElse(untainted);
    }

    /**
     * Loads the policy's file again if it changed.
     *
     * @param inventory the devices; {@code null} if they are unknown
     * @return whether {@link #apply} has another result now
     */
    public boolean reload(@Nullable Inventory inventory) {
        return file != null && file.reload(inventory);
    }

    /** Sets the maintenance to apply; {@code null} for none. */
    public void maintain(@Nullable Maintenance next) {
        maintenance = next;
    }

    /** Returns how many devices of an inventory are excluded. */
    public long excluded(Inventory inventory) {
        return file == null ? 0 : file.current().excluded(inventory);
    }

    /** Returns how many devices of an inventory are in maintenance. */
    public long maintained(Inventory inventory) {
        Maintenance now = maintenance;
        return now == null ? 0 : now.policy(driverName).concerned(inventory);
    }

    /** Returns how many devices that the cluster has are in maintenance. */
    public long maintained(List<Device> stored) {
        Maintenance now = maintenance;
        return now == null ? 0 : stored.stream().filter(now::concerns).count();
    }
}

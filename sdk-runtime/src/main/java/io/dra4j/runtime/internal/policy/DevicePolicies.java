// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.FileStamp;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admins' changes to the devices of a node: the policy of a file, and maintenance.
 *
 * <p>{@link #apply} may be called on any thread, the other methods on one.
 */
public final class DevicePolicies {

    private final String driverName;
    private final @Nullable PolicyFile file;
    private volatile @Nullable Maintenance maintenance;

    /**
     * Loads the policy.
     *
     * @param file the policy; {@code null} for none
     * @param events receives later problems with it, and their ends
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
     * Returns a device as it is stored in the cluster, but with maintenance as it is now: everything else is what an
     * earlier process published under the policy of its time.
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

    public long excluded(Inventory inventory) {
        return file == null ? 0 : file.current().excluded(inventory);
    }

    public long maintained(Inventory inventory) {
        Maintenance now = maintenance;
        return now == null ? 0 : now.policy(driverName).concerned(inventory);
    }

    /** Returns how many devices that the cluster has are in maintenance. */
    public long maintained(List<Device> stored) {
        Maintenance now = maintenance;
        return now == null ? 0 : stored.stream().filter(now::concerns).count();
    }

    /**
     * The policy of a file that may change at any time, like a mounted ConfigMap.
     *
     * <p>An invalid file is an error at the start. Later it is reported, and the last good policy stays in force. A
     * file that is being written is not read until it is the same in two looks. Used on one thread, except for {@link
     * #current}.
     */
    static final class PolicyFile {

        private static final Logger LOG = LoggerFactory.getLogger(DevicePolicies.class);
        private static final String SUBJECT = "device policy";
        private static final long LONGEST = 1 << 20; // of a ConfigMap

        private final Path file;
        private final PolicyReader reader;
        private final EventRecorder events;
        private FileStamp seen;
        private FileStamp loaded;
        private boolean isWrong;
        private volatile DevicePolicy current;

        /**
         * Loads the file.
         *
         * @throws DraException if it does not exist, or is not a policy
         */
        PolicyFile(Path file, PolicyReader reader, EventRecorder events) {
            this.file = file;
            this.reader = reader;
            this.events = events;
            this.seen = FileStamp.of(file);
            this.loaded = seen;
            try {
                current = load(null);
            } catch (IllegalArgumentException e) {
                throw wrong(e);
            }
        }

        private DraException wrong(IllegalArgumentException e) {
            return new DraException(
                    "The device policy %s can't be applied: %s; correct the file, or leave --device-policy out"
                            .formatted(file, e.getMessage()),
                    e);
        }

        /** Returns the policy in force; from any thread. */
        DevicePolicy current() {
            return current;
        }

        /**
         * Checks the policy with the devices of this node, which are not known when it is loaded.
         *
         * @throws DraException if it can't be applied to them
         */
        void check(Inventory inventory) {
            try {
                reader.check(current, inventory);
            } catch (IllegalArgumentException e) {
                throw wrong(e);
            }
        }

        /**
         * Loads the file again if it changed.
         *
         * @param inventory what the policy is checked with; {@code null} if it is unknown
         * @return whether another policy is in force now
         */
        boolean reload(@Nullable Inventory inventory) {
            FileStamp now = FileStamp.of(file);
            boolean settled = now.equals(seen);
            seen = now;
            if (!settled || now.equals(loaded)) {
                return false;
            }
            loaded = now;
            try {
                DevicePolicy next = load(inventory);
                boolean isOther = !next.equals(current);
                current = next;
                reloaded();
                return isOther;
            } catch (IllegalArgumentException e) {
                refused(e);
                return false;
            }
        }

        private void reloaded() {
            LOG.atInfo().log("The device policy {} was reloaded", file);
            if (isWrong) {
                isWrong = false;
                events.record(new DriverEvent(
                        Reason.PUBLISHING_RECOVERED, SUBJECT, "The device policy can be applied again: " + file));
            }
        }

        private void refused(IllegalArgumentException e) {
            isWrong = true;
            String message =
                    "The device policy %s can't be applied, and the previous one stays in force: %s. Correct the file"
                            .formatted(file, e.getMessage());
            LOG.atError().log(message);
            events.record(new DriverEvent(Reason.POLICY_REJECTED, SUBJECT, message, e));
        }

        private DevicePolicy load(@Nullable Inventory inventory) {
            DevicePolicy policy = reader.read(text());
            if (inventory != null) {
                reader.check(policy, inventory);
            }
            return policy;
        }

        private String text() {
            try {
                if (Files.size(file) > LONGEST) {
                    throw new IllegalArgumentException("it has more than 1 MiB");
                }
                return Files.readString(file);
            } catch (NoSuchFileException e) {
                throw new IllegalArgumentException("there is no such file", e);
            } catch (IOException e) {
                throw new IllegalArgumentException("it can't be read as UTF-8 text: " + e, e);
            }
        }
    }
}

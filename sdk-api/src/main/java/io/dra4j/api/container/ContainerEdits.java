// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The changes that the container runtime makes to a container that uses a device.
 *
 * <p>Edits describe; they have no effect of their own, and the runtime may write them again at any
 * time. They are checked against the rules of CDI before a claim is answered.
 *
 * @param env environment variables by name, in order
 * @param deviceNodes device nodes
 * @param mounts mounts
 * @param hooks hooks, in the order in which they run
 * @param netDevices network interfaces
 * @param additionalGids groups that the container's process also belongs to
 * @param intelRdt Intel RDT settings, or {@code null}
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI,
 *     containerEdits</a>
 */
public record ContainerEdits(
        Map<String, String> env,
        List<DeviceNode> deviceNodes,
        List<Mount> mounts,
        List<Hook> hooks,
        List<NetDevice> netDevices,
        List<Long> additionalGids,
        @Nullable IntelRdt intelRdt) {

    /** No edits. */
    public static final ContainerEdits NONE = builder().build();

    /** Copies the collections; the environment keeps its order. */
    public ContainerEdits {
        env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
        deviceNodes = List.copyOf(deviceNodes);
        mounts = List.copyOf(mounts);
        hooks = List.copyOf(hooks);
        netDevices = List.copyOf(netDevices);
        additionalGids = List.copyOf(additionalGids);
    }

    /**
     * Starts edits.
     *
     * @return a builder of no edits
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns whether nothing is edited.
     *
     * @return {@code true} if there is no edit of any kind
     */
    public boolean isEmpty() {
        return equals(NONE);
    }

    /** Builds {@link ContainerEdits}; not thread-safe. */
    public static final class Builder {
        private final Map<String, String> env = new LinkedHashMap<>();
        private final List<DeviceNode> deviceNodes = new ArrayList<>();
        private final List<Mount> mounts = new ArrayList<>();
        private final List<Hook> hooks = new ArrayList<>();
        private final List<NetDevice> netDevices = new ArrayList<>();
        private final List<Long> additionalGids = new ArrayList<>();
        private @Nullable IntelRdt intelRdt;

        private Builder() {}

        /**
         * Sets an environment variable.
         *
         * @param name its name
         * @param value its value
         * @return this builder
         */
        public Builder env(String name, String value) {
            env.put(name, value);
            return this;
        }

        /**
         * Adds a device node.
         *
         * @param node the node
         * @return this builder
         */
        public Builder deviceNode(DeviceNode node) {
            deviceNodes.add(node);
            return this;
        }

        /**
         * Adds a mount.
         *
         * @param mount the mount
         * @return this builder
         */
        public Builder mount(Mount mount) {
            mounts.add(mount);
            return this;
        }

        /**
         * Adds a hook, which runs after those added before.
         *
         * @param hook the hook
         * @return this builder
         */
        public Builder hook(Hook hook) {
            hooks.add(hook);
            return this;
        }

        /**
         * Adds a network interface.
         *
         * @param netDevice the interface
         * @return this builder
         */
        public Builder netDevice(NetDevice netDevice) {
            netDevices.add(netDevice);
            return this;
        }

        /**
         * Adds a group of the container's process.
         *
         * @param gid the group's number, 0 to 4294967295
         * @return this builder
         */
        public Builder additionalGid(long gid) {
            additionalGids.add(gid);
            return this;
        }

        /**
         * Sets Intel RDT.
         *
         * @param settings the settings
         * @return this builder
         */
        public Builder intelRdt(IntelRdt settings) {
            intelRdt = settings;
            return this;
        }

        /**
         * Builds the edits.
         *
         * @return the edits
         */
        public ContainerEdits build() {
            return new ContainerEdits(
                    env, deviceNodes, mounts, hooks, netDevices, additionalGids, intelRdt);
        }
    }
}

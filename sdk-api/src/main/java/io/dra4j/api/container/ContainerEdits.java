// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The changes that the container runtime makes to a container that uses a device.
 *
 * <p>Edits only describe changes, and the runtime may write them again at any time. They are checked against the rules
 * of CDI before a prepare call is answered.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI, containerEdits</a>
 */
public final class ContainerEdits {

    /** No edits. */
    public static final ContainerEdits NONE = builder().build();

    private final Values values;

    private ContainerEdits(Builder builder) {
        values = new Values(
                builder.env,
                builder.deviceNodes,
                builder.mounts,
                builder.hooks,
                builder.netDevices,
                builder.additionalGids,
                builder.intelRdt);
    }

    /**
     * Returns a builder for container edits.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.env.putAll(values.env);
        builder.deviceNodes.addAll(values.deviceNodes);
        builder.mounts.addAll(values.mounts);
        builder.hooks.addAll(values.hooks);
        builder.netDevices.addAll(values.netDevices);
        builder.additionalGids.addAll(values.additionalGids);
        builder.intelRdt = values.intelRdt;
        return builder;
    }

    /** {@return environment variables by name, in order} */
    public Map<String, String> env() {
        return values.env;
    }

    /** {@return device nodes} */
    public List<DeviceNode> deviceNodes() {
        return values.deviceNodes;
    }

    /** {@return mounts} */
    public List<Mount> mounts() {
        return values.mounts;
    }

    /** {@return hooks, in the order in which they run} */
    public List<Hook> hooks() {
        return values.hooks;
    }

    /** {@return network interfaces} */
    public List<NetDevice> netDevices() {
        return values.netDevices;
    }

    /** {@return groups that the container's process also belongs to} */
    public List<Long> additionalGids() {
        return values.additionalGids;
    }

    /** {@return Intel RDT settings, or {@code null}} */
    public @Nullable IntelRdt intelRdt() {
        return values.intelRdt;
    }

    /** {@return whether nothing is edited} */
    public boolean isEmpty() {
        return equals(NONE);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ContainerEdits that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "ContainerEdits");
    }

    private record Values(
            Map<String, String> env,
            List<DeviceNode> deviceNodes,
            List<Mount> mounts,
            List<Hook> hooks,
            List<NetDevice> netDevices,
            List<Long> additionalGids,
            @Nullable IntelRdt intelRdt) {

        private Values {
            env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
            deviceNodes = List.copyOf(deviceNodes);
            mounts = List.copyOf(mounts);
            hooks = List.copyOf(hooks);
            netDevices = List.copyOf(netDevices);
            additionalGids = List.copyOf(additionalGids);
        }
    }

    /** Builds a {@link ContainerEdits}; not thread-safe. */
    public static final class Builder {
        private Map<String, String> env = new LinkedHashMap<>();
        private List<DeviceNode> deviceNodes = new ArrayList<>();
        private List<Mount> mounts = new ArrayList<>();
        private List<Hook> hooks = new ArrayList<>();
        private List<NetDevice> netDevices = new ArrayList<>();
        private List<Long> additionalGids = new ArrayList<>();
        private @Nullable IntelRdt intelRdt;

        private Builder() {}

        /**
         * Sets an environment variable.
         *
         * @param name its name
         * @param value its value
         * @return this builder
         * @throws IllegalArgumentException if the name is empty or has a {@code =} or NUL in it
         */
        public Builder env(String name, String value) {
            if (Objects.requireNonNull(name, "name").isEmpty() || name.indexOf('=') >= 0 || name.indexOf(0) >= 0) {
                throw new IllegalArgumentException(
                        "Not a name of an environment variable: \"%s\"; it has at least one character, and no '=' or NUL"
                                .formatted(name));
            }
            env.put(name, Objects.requireNonNull(value, () -> "value: variable " + name + " is null"));
            return this;
        }

        /**
         * Replaces all environment variables.
         *
         * @param env the variables by name, in order
         * @return this builder
         */
        public Builder env(Map<String, String> env) {
            Objects.requireNonNull(env, "env");
            this.env = fresh(all -> env.forEach(all::env)).env;
            return this;
        }

        /**
         * Adds a device node.
         *
         * @param deviceNode the node
         * @return this builder
         */
        public Builder deviceNode(DeviceNode deviceNode) {
            deviceNodes.add(Objects.requireNonNull(
                    deviceNode, () -> "deviceNode: deviceNodes[" + deviceNodes.size() + "] is null"));
            return this;
        }

        /**
         * Replaces all device nodes.
         *
         * @param deviceNodes the nodes
         * @return this builder
         */
        public Builder deviceNodes(Collection<DeviceNode> deviceNodes) {
            Objects.requireNonNull(deviceNodes, "deviceNodes");
            this.deviceNodes = fresh(all -> deviceNodes.forEach(all::deviceNode)).deviceNodes;
            return this;
        }

        /**
         * Adds a mount.
         *
         * @param mount the mount
         * @return this builder
         */
        public Builder mount(Mount mount) {
            mounts.add(Objects.requireNonNull(mount, () -> "mount: mounts[" + mounts.size() + "] is null"));
            return this;
        }

        /**
         * Replaces all mounts.
         *
         * @param mounts the mounts
         * @return this builder
         */
        public Builder mounts(Collection<Mount> mounts) {
            Objects.requireNonNull(mounts, "mounts");
            this.mounts = fresh(all -> mounts.forEach(all::mount)).mounts;
            return this;
        }

        /**
         * Adds a hook, which runs after those added before.
         *
         * @param hook the hook
         * @return this builder
         */
        public Builder hook(Hook hook) {
            hooks.add(Objects.requireNonNull(hook, () -> "hook: hooks[" + hooks.size() + "] is null"));
            return this;
        }

        /**
         * Replaces all hooks.
         *
         * @param hooks the hooks, in the order in which they run
         * @return this builder
         */
        public Builder hooks(Collection<Hook> hooks) {
            Objects.requireNonNull(hooks, "hooks");
            this.hooks = fresh(all -> hooks.forEach(all::hook)).hooks;
            return this;
        }

        /**
         * Adds a network interface.
         *
         * @param netDevice the interface
         * @return this builder
         */
        public Builder netDevice(NetDevice netDevice) {
            netDevices.add(Objects.requireNonNull(
                    netDevice, () -> "netDevice: netDevices[" + netDevices.size() + "] is null"));
            return this;
        }

        /**
         * Replaces all network interfaces.
         *
         * @param netDevices the interfaces
         * @return this builder
         */
        public Builder netDevices(Collection<NetDevice> netDevices) {
            Objects.requireNonNull(netDevices, "netDevices");
            this.netDevices = fresh(all -> netDevices.forEach(all::netDevice)).netDevices;
            return this;
        }

        /**
         * Adds an additional group of the container's process.
         *
         * @param additionalGid the group's number, 0 to 4294967295
         * @return this builder
         */
        public Builder additionalGid(long additionalGid) {
            additionalGids.add(additionalGid);
            return this;
        }

        /**
         * Replaces all additional groups of the container's process.
         *
         * @param additionalGids the groups' numbers
         * @return this builder
         */
        public Builder additionalGids(Collection<Long> additionalGids) {
            Objects.requireNonNull(additionalGids, "additionalGids");
            this.additionalGids = fresh(all -> additionalGids.forEach(
                            gid -> all.additionalGid(Objects.requireNonNull(gid, "additionalGids: one is null"))))
                    .additionalGids;
            return this;
        }

        /**
         * Sets Intel RDT.
         *
         * @param intelRdt the settings, or {@code null}
         * @return this builder
         */
        public Builder intelRdt(@Nullable IntelRdt intelRdt) {
            this.intelRdt = intelRdt;
            return this;
        }

        /** Fills a separate builder first, so that a null element leaves this one unchanged. */
        private static Builder fresh(Consumer<Builder> fill) {
            Builder fresh = new Builder();
            fill.accept(fresh);
            return fresh;
        }

        /** {@return an object with the values of this builder} */
        public ContainerEdits build() {
            return new ContainerEdits(this);
        }
    }
}

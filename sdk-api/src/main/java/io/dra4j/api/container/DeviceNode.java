// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A device node that the container sees.
 *
 * <p>The container runtime takes properties that are {@code null} from the node on the host.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI, deviceNodes</a>
 */
public final class DeviceNode {

    private final Values values;

    private DeviceNode(Builder builder) {
        values = new Values(
                builder.path,
                builder.hostPath,
                builder.type,
                builder.major,
                builder.minor,
                builder.fileMode,
                builder.permissions,
                builder.uid,
                builder.gid);
    }

    /**
     * Returns a builder for a node.
     *
     * @param path the absolute path in the container
     * @return a builder
     * @throws IllegalArgumentException if the path is not absolute
     */
    public static Builder builder(String path) {
        return new Builder(requireAbsolute(Objects.requireNonNull(path, "path"), "path"));
    }

    /**
     * Returns a node that is the same in the container as on the host.
     *
     * @param path the absolute path on the host and in the container
     * @return the node
     * @throws IllegalArgumentException if the path is not absolute
     */
    public static DeviceNode of(String path) {
        return builder(path).build();
    }

    /**
     * Returns a node that has a different path in the container than on the host.
     *
     * @param path the absolute path in the container
     * @param hostPath the absolute path on the host
     * @return the node
     * @throws IllegalArgumentException if a path is not absolute
     */
    public static DeviceNode of(String path, String hostPath) {
        Objects.requireNonNull(hostPath, "hostPath");
        return builder(path).hostPath(hostPath).build();
    }

    private static @Nullable String requireAbsolute(@Nullable String path, String argument) {
        if (path != null && !path.startsWith("/")) {
            throw new IllegalArgumentException(argument + " is not an absolute path: \"" + path + '"');
        }
        return path;
    }

    /** {@return a builder with the values of this object} */
    public Builder toBuilder() {
        Builder builder = new Builder(values.path);
        builder.hostPath = values.hostPath;
        builder.type = values.type;
        builder.major = values.major;
        builder.minor = values.minor;
        builder.fileMode = values.fileMode;
        builder.permissions = values.permissions;
        builder.uid = values.uid;
        builder.gid = values.gid;
        return builder;
    }

    /** {@return the absolute path in the container} */
    public String path() {
        return values.path;
    }

    /** {@return the absolute path on the host; {@code null} if it is the same} */
    public @Nullable String hostPath() {
        return values.hostPath;
    }

    /** {@return {@code b}, {@code c}, {@code u} or {@code p}} */
    public @Nullable String type() {
        return values.type;
    }

    /** {@return the major number} */
    public @Nullable Long major() {
        return values.major;
    }

    /** {@return the minor number} */
    public @Nullable Long minor() {
        return values.minor;
    }

    /** {@return the mode of the node in the container, for instance {@code 0660}} */
    public @Nullable Integer fileMode() {
        return values.fileMode;
    }

    /** {@return the letters of {@code rwm} that say how the container may use it} */
    public @Nullable String permissions() {
        return values.permissions;
    }

    /** {@return the owner in the container} */
    public @Nullable Long uid() {
        return values.uid;
    }

    /** {@return the group in the container} */
    public @Nullable Long gid() {
        return values.gid;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DeviceNode that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "DeviceNode");
    }

    private record Values(
            String path,
            @Nullable String hostPath,
            @Nullable String type,
            @Nullable Long major,
            @Nullable Long minor,
            @Nullable Integer fileMode,
            @Nullable String permissions,
            @Nullable Long uid,
            @Nullable Long gid) {}

    /** Builds a {@link DeviceNode}; not thread-safe. */
    public static final class Builder {
        private final String path;
        private @Nullable String hostPath;
        private @Nullable String type;
        private @Nullable Long major;
        private @Nullable Long minor;
        private @Nullable Integer fileMode;
        private @Nullable String permissions;
        private @Nullable Long uid;
        private @Nullable Long gid;

        private Builder(String path) {
            this.path = path;
        }

        /**
         * Sets the path on the host; the one in the container by default.
         *
         * @param hostPath an absolute path, or {@code null}
         * @return this builder
         * @throws IllegalArgumentException if the path is not absolute
         */
        public Builder hostPath(@Nullable String hostPath) {
            requireAbsolute(hostPath, "hostPath");
            this.hostPath = hostPath;
            return this;
        }

        /**
         * Sets the node's type.
         *
         * @param type {@code b}, {@code c}, {@code u} or {@code p}; {@code null} for the host's
         * @return this builder
         */
        public Builder type(@Nullable String type) {
            this.type = type;
            return this;
        }

        /**
         * Sets the major number.
         *
         * @param major the number; {@code null} for the host's
         * @return this builder
         */
        public Builder major(@Nullable Long major) {
            this.major = major;
            return this;
        }

        /**
         * Sets the minor number.
         *
         * @param minor the number; {@code null} for the host's
         * @return this builder
         */
        public Builder minor(@Nullable Long minor) {
            this.minor = minor;
            return this;
        }

        /**
         * Sets the mode of the node in the container.
         *
         * @param fileMode the mode, for instance {@code 0660}; {@code null} for the host's
         * @return this builder
         */
        public Builder fileMode(@Nullable Integer fileMode) {
            this.fileMode = fileMode;
            return this;
        }

        /**
         * Sets how the container may use the node.
         *
         * @param permissions letters of {@code rwm}; {@code null} for all
         * @return this builder
         */
        public Builder permissions(@Nullable String permissions) {
            this.permissions = permissions;
            return this;
        }

        /**
         * Sets the owner in the container.
         *
         * @param uid the user's number; {@code null} for the host's
         * @return this builder
         */
        public Builder uid(@Nullable Long uid) {
            this.uid = uid;
            return this;
        }

        /**
         * Sets the group in the container.
         *
         * @param gid the group's number; {@code null} for the host's
         * @return this builder
         */
        public Builder gid(@Nullable Long gid) {
            this.gid = gid;
            return this;
        }

        /** {@return an object with the values of this builder} */
        public DeviceNode build() {
            return new DeviceNode(this);
        }
    }
}

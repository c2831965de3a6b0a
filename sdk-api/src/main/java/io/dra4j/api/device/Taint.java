// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Keeps claims that do not tolerate it away from a device.
 *
 * @param key the taint's name: a label name, by convention with the driver's domain as prefix
 * @param value the taint's value: a label value, or {@code null}
 * @param effect what happens to claims that do not tolerate the taint
 * @param timeAdded when the taint began, in whole seconds; {@code null} lets the API server set it, and the runtime
 *     then keeps that time when it publishes again
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5055-dra-device-taints-and-tolerations">
 *     KEP-5055</a>
 */
public record Taint(
        String key,
        @Nullable String value,
        Effect effect,
        @Nullable Instant timeAdded) {

    /** Checks that nothing is missing. */
    public Taint {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(effect, "effect");
    }

    /**
     * Returns a taint that begins when it is first published.
     *
     * @param key the taint's name
     * @param value the taint's value, or {@code null}
     * @param effect what happens to claims that do not tolerate the taint
     * @return the taint
     */
    public static Taint of(String key, @Nullable String value, Effect effect) {
        return new Taint(key, value, effect, null);
    }

    /** The effect of a taint on claims that do not tolerate it. */
    public enum Effect {
        /** Nothing; the taint is only informational. */
        NONE("None"),
        /** They are not allocated the device. */
        NO_SCHEDULE("NoSchedule"),
        /** They are not allocated the device, and pods that use it are evicted. */
        NO_EXECUTE("NoExecute");

        private final String apiName;

        Effect(String apiName) {
            this.apiName = apiName;
        }

        /**
         * Returns the effect's name in the Kubernetes API.
         *
         * @return the name, for instance {@code NoSchedule}
         */
        public String apiName() {
            return apiName;
        }
    }
}

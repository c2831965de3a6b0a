// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.device.Device;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A kind of opaque configuration that a driver understands, and all that is done with it.
 *
 * <p>The runtime decodes an entry strictly (an unknown field is an error), normalizes it, then
 * validates it; the same chain serves prepare, an admission webhook and an offline check. Entries
 * of the class come before those of the claim, and among those that apply to a device the last one
 * wins, unless {@linkplain #mergedBy a merge} is given. The functions must have no effects and be
 * thread-safe.
 *
 * @param apiVersion the {@code apiVersion} of the entry, for instance {@code
 *     gpu.resource.example.com/v1alpha1}
 * @param kind the {@code kind} of the entry
 * @param type the vendor's type: a record whose components are the entry's other fields; what the
 *     entry leaves out is {@code null}
 * @param defaults makes the configuration of a device that no entry applies to; {@code null} for
 *     none
 * @param normalize fills in what the entry left out
 * @param problems returns the problems of a configuration, a sentence each; empty if it is valid
 * @param fits whether the kind is for a device; an entry for all requests skips the devices that it
 *     does not fit, an entry that names their request is then an error
 * @param sources where entries may come from
 * @param merge makes one of an earlier and a later entry; {@code null} if the last entry wins
 * @param <T> the vendor's type
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/">
 *     ResourceClaim, opaque.parameters</a>
 */
public record ConfigType<T>(
        String apiVersion,
        String kind,
        Class<T> type,
        @Nullable Supplier<T> defaults,
        UnaryOperator<T> normalize,
        Function<T, List<String>> problems,
        Predicate<Device> fits,
        Set<ConfigSource> sources,
        @Nullable BinaryOperator<T> merge) {

    /** Copies the set. */
    public ConfigType {
        sources = Set.copyOf(sources);
    }

    /**
     * Returns a kind without defaults, in which every decoded entry is valid and fits every device.
     *
     * @param apiVersion the {@code apiVersion} of the entry
     * @param kind the {@code kind} of the entry
     * @param type the vendor's type
     * @param <T> the vendor's type
     * @return the kind
     */
    public static <T> ConfigType<T> of(String apiVersion, String kind, Class<T> type) {
        return new ConfigType<>(
                apiVersion,
                kind,
                type,
                null,
                UnaryOperator.identity(),
                value -> List.of(),
                device -> true,
                EnumSet.of(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM),
                null);
    }

    /**
     * Sets the configuration of devices that no entry applies to.
     *
     * @param supplier makes it
     * @return a copy of this kind
     */
    public ConfigType<T> defaultingTo(Supplier<T> supplier) {
        return new ConfigType<>(
                apiVersion, kind, type, supplier, normalize, problems, fits, sources, merge);
    }

    /**
     * Sets what fills in the fields that an entry left out.
     *
     * @param function returns the complete configuration
     * @return a copy of this kind
     */
    public ConfigType<T> normalizedBy(UnaryOperator<T> function) {
        return new ConfigType<>(
                apiVersion, kind, type, defaults, function, problems, fits, sources, merge);
    }

    /**
     * Sets what finds the faults of a normalized configuration.
     *
     * @param function returns a sentence for each fault
     * @return a copy of this kind
     */
    public ConfigType<T> validatedBy(Function<T, List<String>> function) {
        return new ConfigType<>(
                apiVersion, kind, type, defaults, normalize, function, fits, sources, merge);
    }

    /**
     * Restricts the devices that the kind is for.
     *
     * @param predicate accepts the devices that it fits
     * @return a copy of this kind
     */
    public ConfigType<T> fitting(Predicate<Device> predicate) {
        return new ConfigType<>(
                apiVersion, kind, type, defaults, normalize, problems, predicate, sources, merge);
    }

    /**
     * Restricts where entries may come from; an entry from elsewhere is an error.
     *
     * @param source the only source allowed
     * @return a copy of this kind
     */
    public ConfigType<T> onlyFrom(ConfigSource source) {
        return new ConfigType<>(
                apiVersion, kind, type, defaults, normalize, problems, fits, Set.of(source), merge);
    }

    /**
     * Merges the entries that apply to a device, from the first to the last.
     *
     * <p>Without a merge the last entry wins.
     *
     * @param function makes one of an earlier and a later configuration, both normalized
     * @return a copy of this kind
     */
    public ConfigType<T> mergedBy(BinaryOperator<T> function) {
        return new ConfigType<>(
                apiVersion, kind, type, defaults, normalize, problems, fits, sources, function);
    }
}

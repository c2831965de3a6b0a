// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.command;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.cluster.ClusterApi;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A driver and its node, according to the driver's options.
 *
 * @param kubeconfig how to reach the API server; {@code null} for the pod's service account
 * @param cdiRoot where the driver writes CDI specs
 * @param plugins the kubelet's directory for data of plugins
 * @param registrar where the kubelet looks for plugins
 * @param neededGates the feature gate of Kubernetes that each option of the driver needs
 * @param devices opens the devices, to be closed after use
 * @param checks creates the driver's own checks for {@code doctor}
 */
public record DriverNode(
        String driver,
        String node,
        @Nullable Path kubeconfig,
        Path cdiRoot,
        Path plugins,
        Path registrar,
        Path procRoot,
        Map<String, String> neededGates,
        Supplier<Devices> devices,
        Function<ClusterApi, List<? extends Check>> checks) {

    /** The devices of a node whose driver may run in another process: they are only read. */
    public interface Devices extends AutoCloseable {

        /**
         * Reads the devices, or throws why they can't be read.
         *
         * @param held the claims of the journal; none if they are not known
         */
        Inventory inventory(List<HeldClaim> held);

        /**
         * Returns the driver's own checks for {@code audit}, which are not run if the journal can't be read.
         *
         * @param bootId the node's current boot
         * @param held the claims of the journal; none if it can't be read
         * @param podDeletion returns the commands that delete the pods of a claim
         */
        List<Check> checks(String bootId, List<HeldClaim> held, Function<ClaimRef, List<String>> podDeletion);

        @Override
        void close();
    }
}

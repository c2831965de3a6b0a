// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The checks of a cluster, and of a driver's node as the API server shows it. */
public final class ClusterChecks {

    private ClusterChecks() {}

    /**
     * The checks of all drivers and nodes of a view.
     *
     * @param account {@code NAMESPACE:NAME} of the driver's ServiceAccount, whose rights are
     *     checked; empty for none
     */
    public static List<Check> ofCluster(ClusterView cluster, String account) {
        List<Check> checks = new ArrayList<>(List.of(
                new ServerVersion(cluster),
                new KubeletVersion(cluster),
                new RuntimeVersion(cluster),
                new NodeClocks(cluster),
                new GoneNodes(cluster),
                new PoolSlices(cluster),
                new LegacyDevicePlugin(cluster),
                new TwoDrivers(cluster),
                new MigManager(cluster, false)));
        if (cluster.hasNode()) {
            checks.add(1, new NodeName(cluster));
        }
        if (cluster.hasDriver()) {
            checks.add(new NoDevices(cluster));
        }
        if (!account.isEmpty()) {
            checks.add(new Rights(cluster, account));
        }
        return checks;
    }

    /**
     * The checks of a driver on the node of this program, with the driver's own rights.
     *
     * @param clock of the node
     * @param bootId reads the boot id, or throws {@link io.dra4j.doctor.NotCheckedException}
     */
    public static List<Check> ofNode(
            ClusterApi api, String driver, String node, InstantSource clock, Supplier<String> bootId) {
        ClusterView cluster = new ClusterView(api, new Scope(driver, node));
        return List.of(
                new ServerVersion(cluster),
                new NodeName(cluster),
                new SameBoot(cluster, bootId),
                new LocalClock(cluster, clock),
                new KubeletVersion(cluster),
                new RuntimeVersion(cluster),
                new Rights(cluster, ""),
                new Admission(cluster),
                new NoDevices(cluster),
                new PoolSlices(cluster),
                new LegacyDevicePlugin(cluster));
    }

    /** The check that GPU Operator's MIG manager stays off a node with dynamic MIG. */
    public static Check migManager(ClusterApi api, String driver, String node) {
        return new MigManager(new ClusterView(api, new Scope(driver, node)), true);
    }
}

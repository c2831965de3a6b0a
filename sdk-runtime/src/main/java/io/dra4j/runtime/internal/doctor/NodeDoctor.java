// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.doctor.cluster.ClusterChecks;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The checks of a driver's node.
 *
 * @param kubeconfig how to reach the API server; null for the pod's service account
 * @param driver the driver's name
 * @param node the node's name
 * @param cdiRoot where the driver writes CDI specs
 * @param plugins the kubelet's directory for data of plugins
 * @param registrar where the kubelet looks for plugins
 * @param procRoot the host's proc file system
 * @param host the node's files
 * @param neededGates the feature gate of Kubernetes that each option of the driver needs
 * @param inventory reads the devices, or throws why they can't be read
 */
public record NodeDoctor(
        @Nullable Path kubeconfig,
        String driver,
        String node,
        Path cdiRoot,
        Path plugins,
        Path registrar,
        Path procRoot,
        HostRoot host,
        Map<String, String> neededGates,
        Supplier<Inventory> inventory) {

    /**
     * Runs all checks.
     *
     * @param own makes those of the driver
     * @throws DraException if kubeconfig or service account can't be read
     */
    public Report report(Function<ClusterApi, ? extends List<? extends Check>> own) {
        try (Cluster cluster = Cluster.connect(kubeconfig, driver, node, Meters.none())) {
            ClusterApi api = cluster.checked();
            List<Check> checks =
                    new ArrayList<>(ClusterChecks.ofNode(api, driver, node, InstantSource.system(), this::bootId));
            checks.add(new GateCheck(cluster.slices(), node, neededGates, inventory));
            checks.add(new CdiCheck(() -> runtime(api), host, cdiRoot));
            checks.add(new KubeletDirectories(plugins, driver, registrar));
            checks.addAll(own.apply(api));
            return Report.of("%s on node %s".formatted(driver, node), checks);
        }
    }

    private String bootId() {
        try {
            return BootId.read(procRoot);
        } catch (DraException e) {
            throw new NotCheckedException(String.valueOf(e.getMessage()), e);
        }
    }

    private String runtime(ClusterApi api) {
        JsonNode node = api.get("api/v1/nodes/" + this.node).body();
        String runtime = node.at("/status/nodeInfo/containerRuntimeVersion").asText();
        if (runtime.isEmpty()) {
            throw new NotCheckedException("the API server does not say which container runtime it is");
        }
        return runtime;
    }

    /**
     * Checks that the directories that the driver shares with the kubelet are there, and can be written: of those of
     * plugins, its own. A pod need not mount the rest.
     *
     * @param plugins where plugins keep their data; a driver whose directory is missing makes it there
     * @param driver the driver's name
     * @param registrar where the kubelet looks for plugins
     */
    private record KubeletDirectories(Path plugins, String driver, Path registrar) implements Check {

        @Override
        public String id() {
            return "kubelet-directories";
        }

        @Override
        public Result look() {
            List<Finding> findings = new ArrayList<>();
            Path own = plugins.resolve(driver);
            Path data = Files.exists(own) ? own : plugins;
            for (Path directory : List.of(data, registrar)) {
                if (!Files.isDirectory(directory)) {
                    findings.add(finding(directory, "there is no such directory"));
                } else if (!Files.isWritable(directory)) {
                    findings.add(finding(directory, "this program may not write there"));
                }
            }
            return new Result("%s and %s can be written".formatted(data, registrar), findings);
        }

        private Finding finding(Path directory, String what) {
            return new Finding(
                    id(),
                    Severity.ERROR,
                    directory.toString(),
                    what,
                    "the kubelet never learns of the driver: its --root-dir may be another one than"
                            + " /var/lib/kubelet, or the pod lacks the mount, or root",
                    List.of(
                            "ps -o args= -C kubelet    # --root-dir",
                            "# set --kubelet-plugins-directory-path and --kubelet-registrar-directory-path"
                                    + " to plugins and plugins_registry below it"));
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.doctor.cluster.ClusterChecks;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Release;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.publish.plan.CounterLayout;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.FeatureProbe;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The checks of a driver's node, with the node's files. */
public record NodeDoctor(DriverNode driver, HostRoot host) {

    /**
     * Runs all checks.
     *
     * @throws DraException if kubeconfig or service account can't be read
     */
    public Report report() {
        String name = driver.driver();
        String node = driver.node();
        try (Cluster cluster = Cluster.connect(driver.kubeconfig(), name, node, Meters.none())) {
            ClusterApi api = cluster.checked();
            List<Check> checks =
                    new ArrayList<>(ClusterChecks.ofNode(api, name, node, InstantSource.system(), this::bootId));
            checks.add(new GateCheck(cluster.slices(), node, driver.neededGates(), this::inventory));
            checks.add(new RuntimeCdiCheck(() -> runtime(api), host, driver.cdiRoot()));
            checks.add(new KubeletDirectories(driver.plugins(), name, driver.registrar()));
            checks.addAll(driver.checks().apply(api));
            return Report.of("%s on node %s".formatted(name, node), checks);
        }
    }

    private Inventory inventory() {
        try (DriverNode.Devices devices = driver.devices().get()) {
            return devices.inventory(List.of());
        }
    }

    private String bootId() {
        try {
            return BootId.read(driver.procRoot());
        } catch (DraException e) {
            throw new NotCheckedException(String.valueOf(e.getMessage()), e);
        }
    }

    private String runtime(ClusterApi api) {
        JsonNode node = api.get("api/v1/nodes/" + driver.node()).body();
        String runtime = node.at("/status/nodeInfo/containerRuntimeVersion").asText();
        if (runtime.isEmpty()) {
            throw new NotCheckedException("the API server does not say which container runtime it is");
        }
        return runtime;
    }

    /**
     * Checks that the directories that the driver shares with the kubelet exist and are writable; of the plugins'
     * directories only the driver's own, since a pod need not mount the rest.
     *
     * @param plugins where plugins keep their data; a driver whose directory is missing creates it there
     * @param registrar where the kubelet looks for plugins
     */
    private record KubeletDirectories(Path plugins, String driver, Path registrar) implements Check {

        @Override
        public String id() {
            return "kubelet-directories";
        }

        @Override
        public CheckResult look() {
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
            return new CheckResult("%s and %s are writable".formatted(data, registrar), findings);
        }

        private Finding finding(Path directory, String what) {
            return new Finding(
                    id(),
                    Severity.ERROR,
                    directory.toString(),
                    what,
                    "the kubelet never discovers the driver: its --root-dir may differ from"
                            + " /var/lib/kubelet, or the pod lacks the mount, or root",
                    List.of(
                            "ps -o args= -C kubelet    # --root-dir",
                            "# set --kubelet-plugins-directory-path and --kubelet-registrar-directory-path"
                                    + " to plugins and plugins_registry below it"));
        }
    }

    /**
     * Checks by dry runs that the API server keeps what the driver's options and devices need.
     *
     * @param needed the feature gate of Kubernetes that each option needs
     * @param inventory reads the devices, or throws why they can't be read
     */
    record GateCheck(SliceStore store, String node, Map<String, String> needed, Supplier<Inventory> inventory)
            implements Check {

        private static final String NOT_PUBLISHED = "devices that need them are not published";

        @Override
        public String id() {
            return "feature-gates";
        }

        @Override
        public CheckResult look() {
            Set<String> gates = new TreeSet<>(needed.values());
            List<Finding> findings = new ArrayList<>();
            needed.forEach((option, gate) -> {
                if (!isKept(feature(gate))) {
                    String otherwise = "; or start the driver without " + option;
                    findings.add(
                            finding(Severity.ERROR, gate, "the driver runs with " + option, NOT_PUBLISHED, otherwise));
                }
            });
            String none = "no option and no device needs one";
            String unread = "";
            try {
                pools(findings).forEach(pool -> findings.addAll(losses(pool, gates)));
            } catch (UnsupportedOperationException e) { // thrown by most providers: not a failed check
                none = "no option needs one";
                unread = "; " + e.getMessage();
            }
            return new CheckResult((gates.isEmpty() ? none : "on: " + String.join(", ", gates)) + unread, findings);
        }

        /** Without devices the check can't be completed, unless it has found something already. */
        private List<Pool> pools(List<Finding> found) {
            try {
                return inventory.get().pools();
            } catch (UnsupportedOperationException e) {
                throw e;
            } catch (Exception | LinkageError e) { // of a provider
                if (found.isEmpty()) {
                    throw new NotCheckedException("the devices may need one, and can't be read: " + e.getMessage(), e);
                }
                return List.of();
            }
        }

        /** Returns what devices of a pool lose because of gates that no option needs; adds all gates that they need. */
        private List<Finding> losses(Pool pool, Set<String> gates) {
            Pool sent = Publishable.of(pool, Set.of()).pool();
            Set<Feature> missing = EnumSet.noneOf(Feature.class);
            for (Feature feature : Feature.values()) {
                if (feature.usedBy(sent)) {
                    gates.add(feature.gate().name());
                    if (!isKept(feature)) {
                        missing.add(feature);
                    }
                }
            }
            Publishable kept = Publishable.of(pool, missing);
            return Stream.concat(
                            losses(pool.name(), kept.withdrawn(), Severity.ERROR, NOT_PUBLISHED),
                            losses(pool.name(), kept.leftOut(), Severity.WARNING, "devices are published without them"))
                    .toList();
        }

        private Stream<Finding> losses(
                PoolName pool, Map<Feature, List<DeviceName>> lost, Severity severity, String consequence) {
            return lost.entrySet().stream()
                    .filter(loss -> !needed.containsValue(loss.getKey().gate().name()))
                    .map(loss -> finding(
                            severity,
                            loss.getKey().gate().name(),
                            "devices of pool %s have %s, such as %s"
                                    .formatted(
                                            pool, loss.getKey(), loss.getValue().get(0)),
                            consequence,
                            ""));
        }

        /** Returns the feature that shows the gate; if its field has changed, the form of the server's release. */
        private Feature feature(String gate) {
            return Arrays.stream(Feature.values())
                    .filter(one -> one.gate().name().equals(gate))
                    .max(Comparator.comparing(one -> one.gate().isIn(release().minor())))
                    .orElseThrow(() -> new NotCheckedException(
                            "no dry run shows the gate %s: look for it in `kubectl get --raw /metrics`"
                                    .formatted(gate)));
        }

        private boolean isKept(Feature feature) {
            try {
                return FeatureProbe.isKept(feature, store, new PoolName(node), () -> CounterLayout.of(release()));
            } catch (ClusterException e) {
                throw new NotCheckedException(String.valueOf(e.getMessage()), e);
            }
        }

        private KubernetesVersion release() {
            return store.kubernetes().map(Release::nearest).orElse(KubernetesVersion.newest());
        }

        /** Advises to enable a gate only if the server's release has it and allows disabling it. */
        private Finding finding(Severity severity, String name, String use, String consequence, String otherwise) {
            FeatureGate gate = FeatureGate.parse(name);
            KubernetesVersion release = release();
            String dropped = "the server drops these fields of slices without an error; " + consequence;
            KubernetesVersion first = Stream.of(KubernetesVersion.values())
                    .filter(gate::existsIn)
                    .findFirst()
                    .orElseThrow();
            if (!release.atLeast(first)) {
                return found(
                        severity,
                        "Kubernetes 1.%d has no feature gate %s, and %s".formatted(release.minor(), name, use),
                        dropped,
                        "# upgrade the cluster to Kubernetes 1.%d or newer".formatted(first.minor()) + otherwise);
            }
            Optional<Release> unknown = store.kubernetes().filter(Release::isNewerThanKnown);
            if (unknown.isEmpty() && gate.isLockedIn(release)) {
                return found(
                        severity,
                        "slices lose the fields of feature gate %s, which is always on in Kubernetes 1.%d, and %s"
                                .formatted(name, release.minor(), use),
                        "something between the driver and the server's storage drops them; " + consequence,
                        "# look for a webhook or policy that changes slices, and for an emulated version of kube-apiserver",
                        "kubectl get mutatingwebhookconfigurations,mutatingadmissionpolicies");
            }
            return found(
                    severity,
                    "its feature gate %s is off%s, and %s"
                            .formatted(
                                    name,
                                    unknown.map(" or is not in Kubernetes %s, which is unknown here"::formatted)
                                            .orElse(""),
                                    use),
                    dropped,
                    "# add %s=true to --feature-gates of kube-apiserver, kube-scheduler and".formatted(name)
                            + " kube-controller-manager, and restart them" + otherwise,
                    "kubectl get --raw /metrics | grep 'kubernetes_feature_enabled{name=\"%s\"'".formatted(name));
        }

        private Finding found(Severity severity, String what, String why, String... fix) {
            return new Finding(id(), severity, "API server", what, why, List.of(fix));
        }
    }
}

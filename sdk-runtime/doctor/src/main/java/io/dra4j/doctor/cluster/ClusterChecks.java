// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Release;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The checks of a cluster, and of a driver's node as the API server shows it. */
public final class ClusterChecks {

    private ClusterChecks() {}

    /**
     * The checks of all drivers and nodes of a view.
     *
     * @param account {@code NAMESPACE:NAME} of the driver's ServiceAccount, whose rights are checked; empty for none
     */
    public static List<Check> ofCluster(ClusterView cluster, String account) {
        List<Check> checks = new ArrayList<>(List.of(
                new ServerVersionCheck(cluster),
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
     * @param bootId reads the boot id, or throws {@link io.dra4j.doctor.NotCheckedException}
     */
    public static List<Check> ofNode(
            ClusterApi api, String driver, String node, InstantSource clock, Supplier<String> bootId) {
        ClusterView cluster = new ClusterView(api, new Scope(driver, node));
        return List.of(
                new ServerVersionCheck(cluster),
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

    /** Returns the check that GPU Operator's MIG manager leaves a node with dynamic MIG alone. */
    public static Check migManager(ClusterApi api, String driver, String node) {
        return new MigManager(new ClusterView(api, new Scope(driver, node)), true);
    }

    private static Finding wrongClock(String node, Duration ahead) {
        return new Finding(
                "clock",
                Severity.WARNING,
                "node/" + node,
                "its clock is %d s %s the API server's"
                        .formatted(ahead.abs().toSeconds(), ahead.isNegative() ? "behind" : "ahead of"),
                "tokens and certificates are not yet valid or have expired, so the driver loses the API server; times of taints and Events are wrong",
                List.of("chronyc tracking", "sudo systemctl enable --now chronyd && sudo chronyc makestep"));
    }

    /** Checks that a Node exists with the name that the driver was given. */
    private record NodeName(ClusterView cluster) implements Check {

        @Override
        public String id() {
            return "node-name";
        }

        @Override
        public CheckResult look() {
            if (!cluster.nodes().isEmpty()) {
                return CheckResult.healthy("there is a Node " + cluster.node());
            }
            return CheckResult.found(
                    new Finding(
                            id(),
                            Severity.ERROR,
                            "node/" + cluster.node(),
                            "no Node has this name; the kubelet may have registered with another name, such as one with a domain",
                            "a driver with this name publishes nothing, because the Node owns its slices",
                            List.of(
                                    "kubectl get nodes -o custom-columns=NAME:.metadata.name,HOST:.status.addresses[?(@.type==\"Hostname\")].address",
                                    "# use that name; a driver gets it from NODE_NAME, in a DaemonSet from the field spec.nodeName")));
        }
    }

    /** Checks the clock of this machine against the API server's. */
    private record LocalClock(ClusterView cluster, InstantSource clock) implements Check {

        /** The date of an answer is exact to a second, and may be some seconds old. */
        private static final Duration TOLERATED = Duration.ofSeconds(30);

        @Override
        public String id() {
            return "clock";
        }

        @Override
        public CheckResult look() {
            Duration ahead = Duration.between(cluster.now(), clock.instant());
            return ahead.abs().compareTo(TOLERATED) <= 0
                    ? CheckResult.healthy("the API server's time, within %d s".formatted(TOLERATED.toSeconds()))
                    : CheckResult.found(wrongClock(cluster.node(), ahead));
        }
    }

    /** Checks the kubelets of nodes with devices: before 1.34, DRA is off by default in them. */
    private record KubeletVersion(ClusterView cluster) implements Check {

        @Override
        public String id() {
            return "kubelet-version";
        }

        @Override
        public CheckResult look() {
            List<NodeFacts> nodes = cluster.driverNodes();
            List<Finding> findings = new ArrayList<>();
            for (NodeFacts node : nodes) {
                if (Release.of(node.kubelet())
                        .filter(one -> one.isBefore(1, KubernetesVersion.V1_34.minor()))
                        .isPresent()) {
                    findings.add(new Finding(
                            id(),
                            Severity.ERROR,
                            "node/" + node.name(),
                            "its kubelet is " + node.kubelet(),
                            "before 1.34 a kubelet does not call DRA drivers unless a feature"
                                    + " gate is set, so pods with claims never start there",
                            List.of(
                                    "kubectl drain %s --ignore-daemonsets --delete-emptydir-data"
                                            .formatted(node.name()),
                                    "# upgrade the kubelet to 1.34 or newer on the node",
                                    "kubectl uncordon " + node.name())));
                }
            }
            return new CheckResult(CheckResult.number(nodes.size(), "node") + " with 1.34 or newer", findings);
        }
    }

    /**
     * Checks that this machine and its boot are those that the kubelet reports.
     *
     * @param here reads the boot id that the driver sees, or throws NotCheckedException
     */
    private record SameBoot(ClusterView cluster, Supplier<String> here) implements Check {

        @Override
        public String id() {
            return "boot-id";
        }

        @Override
        public CheckResult look() {
            String local = here.get();
            String reported = cluster.nodes().stream()
                    .map(NodeFacts::bootId)
                    .filter(id -> !id.isEmpty())
                    .findFirst()
                    .orElseThrow(() -> new NotCheckedException("the Node has no boot id"));
            if (reported.equals(local)) {
                return CheckResult.healthy("boot " + local);
            }
            return CheckResult.found(new Finding(
                    id(),
                    Severity.ERROR,
                    "node/" + cluster.node(),
                    "its kubelet reports the boot %s, and this machine is in boot %s".formatted(reported, local),
                    "either this is another machine than --node-name says, or --proc-root is"
                            + " not the node's /proc, or the kubelet has been down since the reboot;"
                            + " the driver uses the boot id to tell which claims are still prepared",
                    List.of(
                            "cat /proc/sys/kernel/random/boot_id",
                            "kubectl get node %s -o jsonpath='{.status.nodeInfo.bootID}'".formatted(cluster.node()),
                            "systemctl status kubelet")));
        }
    }

    /** Checks that each pool has all slices of its newest generation: the scheduler waits for them. */
    private record PoolSlices(ClusterView cluster) implements Check {

        @Override
        public String id() {
            return "pool-incomplete";
        }

        @Override
        public CheckResult look() {
            Collection<List<SliceFacts>> pools = cluster.pools();
            List<Finding> findings = pools.stream()
                    .filter(pool -> !SliceFacts.areComplete(pool))
                    .map(pool -> finding(SliceFacts.newest(pool)))
                    .toList();
            return new CheckResult(CheckResult.number(pools.size(), "pool") + ", all complete", findings);
        }

        private Finding finding(List<SliceFacts> current) {
            SliceFacts one = current.get(0);
            return new Finding(
                    id(),
                    Severity.ERROR,
                    "pool/" + one.pool(),
                    "it has %s of generation %d, and its driver %s says that there are %d"
                            .formatted(
                                    CheckResult.number(current.size(), "slice"),
                                    one.generation(),
                                    one.driver(),
                                    one.slicesOfPool()),
                    "the scheduler allocates nothing from an incomplete pool; pods wait",
                    current.size() > one.slicesOfPool() ? deletion(current) : log(one));
        }

        private static List<String> deletion(List<SliceFacts> current) {
            return List.of(
                    "kubectl delete resourceslices "
                            + current.stream().map(SliceFacts::name).collect(Collectors.joining(" ")),
                    "# some are stale; the driver writes its own again");
        }

        private static List<String> log(SliceFacts one) {
            String events = "kubectl get events --all-namespaces --field-selector involvedObject.kind=Node";
            return List.of(
                    one.node().isEmpty() ? events : events + ",involvedObject.name=" + one.node(),
                    "# and the log of the driver's pod: it says which slice is refused, and why");
        }
    }

    /**
     * Checks that GPU Operator's MIG manager leaves GPUs alone that the driver partitions itself.
     *
     * <p>It acts on the node label nvidia.com/mig.config. A driver that creates MIG devices when claims are prepared
     * publishes them with counters; whole GPUs also have counters if they may go to virtual machines.
     */
    private record MigManager(ClusterView cluster, boolean isDynamic) implements Check {

        private static final String LABEL = "nvidia.com/mig.config";
        private static final String DEPLOYED = "nvidia.com/gpu.deploy.mig-manager";
        private static final String DRIVER = "gpu.nvidia.com";

        @Override
        public String id() {
            return "mig-manager";
        }

        @Override
        public CheckResult look() {
            List<Finding> findings = new ArrayList<>();
            List<NodeFacts> nodes =
                    cluster.driverNodes().stream().filter(this::isDynamic).toList();
            for (NodeFacts node : nodes) {
                String layout = node.labels().getOrDefault(LABEL, "");
                boolean runs = !node.labels().getOrDefault(DEPLOYED, "true").equals("false");
                if (!layout.isEmpty() && runs) {
                    findings.add(finding(node, layout));
                }
            }
            return new CheckResult(
                    nodes.isEmpty()
                            ? "no node with dynamic MIG"
                            : "%s with dynamic MIG, none with the label %s"
                                    .formatted(CheckResult.number(nodes.size(), "node"), LABEL),
                    findings);
        }

        private boolean isDynamic(NodeFacts node) {
            return isDynamic
                    || cluster.slicesOf(node).stream()
                            .anyMatch(slice -> slice.driver().equals(DRIVER) && slice.hasDynamicMig());
        }

        private Finding finding(NodeFacts node, String layout) {
            return new Finding(
                    id(),
                    Severity.ERROR,
                    "node/" + node.name(),
                    "GPU Operator's MIG manager applies the layout %s (label %s), and the driver creates MIG devices for claims"
                            .formatted(layout, LABEL),
                    "each destroys or blocks the MIG devices of the other",
                    List.of(
                            "kubectl label node %s %s=false --overwrite".formatted(node.name(), DEPLOYED),
                            "kubectl label node %s %s-".formatted(node.name(), LABEL)));
        }
    }

    /** Checks that the nodes of slices exist: a node may have been removed, or have another name. */
    private record GoneNodes(ClusterView cluster) implements Check {

        @Override
        public String id() {
            return "node-gone";
        }

        @Override
        public CheckResult look() {
            Set<String> nodes = cluster.nodes().stream().map(NodeFacts::name).collect(Collectors.toSet());
            Map<String, List<SliceFacts>> gone = new TreeMap<>();
            for (SliceFacts slice : cluster.slices()) {
                if (!slice.node().isEmpty() && !nodes.contains(slice.node())) {
                    gone.computeIfAbsent(slice.node(), key -> new ArrayList<>()).add(slice);
                }
            }
            return new CheckResult(
                    "%s, each of a node that exists"
                            .formatted(CheckResult.number(cluster.slices().size(), "slice")),
                    gone.entrySet().stream()
                            .map(one -> finding(one.getKey(), one.getValue(), nodes))
                            .toList());
        }

        private Finding finding(String gone, List<SliceFacts> slices, Set<String> nodes) {
            String drivers = slices.stream().map(SliceFacts::driver).distinct().collect(Collectors.joining(", "));
            String names = slices.stream().map(SliceFacts::name).collect(Collectors.joining(" "));
            List<String> alike =
                    nodes.stream().filter(node -> isSame(node, gone)).sorted().toList();
            if (alike.isEmpty()) {
                return new Finding(
                        id(),
                        Severity.WARNING,
                        "node/" + gone,
                        "this node does not exist, but has %s of %s"
                                .formatted(CheckResult.number(slices.size(), "slice"), drivers),
                        "no pod can get these devices, but they are still counted",
                        List.of("kubectl delete resourceslices " + names));
            }
            return new Finding(
                    id(),
                    Severity.ERROR,
                    "node/" + gone,
                    "this node does not exist, but %s: the driver %s was started with a name other than the kubelet's"
                            .formatted(String.join(", ", alike), drivers),
                    "no pod can get these devices: they are on no node that the scheduler knows",
                    List.of(
                            "# set NODE_NAME of the driver's DaemonSet from the field spec.nodeName",
                            "kubectl delete resourceslices " + names));
        }

        /** Returns whether names differ by case, or by a domain. */
        private static boolean isSame(String node, String other) {
            String one = node.toLowerCase(Locale.ROOT) + ".";
            String two = other.toLowerCase(Locale.ROOT) + ".";
            return one.startsWith(two) || two.startsWith(one);
        }
    }

    /**
     * Checks the clocks of nodes with devices against the API server's.
     *
     * <p>A kubelet renews its node's Lease every 10 s, with the time of its own clock. A node that the control plane
     * reports as Ready does renew it, so an old or future time means a wrong clock.
     */
    private record NodeClocks(ClusterView cluster) implements Check {

        /** A Ready node may have missed renewals for 40 s, its lease's duration. */
        private static final Duration TOLERATED = Duration.ofSeconds(90);

        @Override
        public String id() {
            return "clock";
        }

        @Override
        public CheckResult look() {
            List<Finding> findings = new ArrayList<>();
            List<NodeFacts> nodes =
                    cluster.driverNodes().stream().filter(NodeFacts::ready).toList();
            Map<String, String> renewals = renewals();
            Instant now = cluster.now();
            int compared = 0;
            for (NodeFacts node : nodes) {
                Optional<Duration> ahead =
                        Optional.ofNullable(renewals.get(node.name())).map(text -> Duration.between(now, parse(text)));
                if (ahead.isPresent()) {
                    compared++;
                    if (ahead.get().abs().compareTo(TOLERATED) > 0) {
                        findings.add(wrongClock(node.name(), ahead.get()));
                    }
                }
            }
            if (compared == 0 && !nodes.isEmpty()) {
                throw new NotCheckedException(
                        "there is no Lease of " + nodes.get(0).name());
            }
            return new CheckResult(
                    "%s with the time of the API server".formatted(CheckResult.number(compared, "node")), findings);
        }

        /** The times of renewals, by node. */
        private Map<String, String> renewals() {
            Map<String, String> renewals = new HashMap<>();
            cluster.list("apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", lease -> {
                String time = lease.path("spec").path("renewTime").asText();
                if (!time.isEmpty()) {
                    renewals.put(lease.path("metadata").path("name").asText(), time);
                }
            });
            return renewals;
        }

        private static Instant parse(String text) {
            try {
                return Instant.parse(text);
            } catch (DateTimeParseException e) {
                throw new NotCheckedException("a Lease has the time " + text, e);
            }
        }
    }

    /** Checks that the driver in scope publishes devices. */
    private record NoDevices(ClusterView cluster) implements Check {

        @Override
        public String id() {
            return "no-devices";
        }

        @Override
        public CheckResult look() {
            if (cluster.nodes().isEmpty()) {
                throw new NotCheckedException("there is no such Node: node-name");
            }
            if (cluster.find("apis/resource.k8s.io/v1").isEmpty()) {
                throw new NotCheckedException("the server serves no slices: server-version");
            }
            int devices =
                    cluster.slices().stream().mapToInt(SliceFacts::devices).sum();
            return devices > 0
                    ? CheckResult.healthy(CheckResult.number(devices, "device"))
                    : CheckResult.found(finding());
        }

        private Finding finding() {
            String events = "kubectl get events --all-namespaces --field-selector involvedObject.kind=Node";
            boolean isOfNode = cluster.hasNode();
            return new Finding(
                    id(),
                    Severity.ERROR,
                    "driver/" + cluster.driver(),
                    "it publishes no device" + (isOfNode ? " of node " + cluster.node() : ""),
                    "no claim can get a device from it; its pods may run nevertheless",
                    List.of(
                            isOfNode ? events + ",involvedObject.name=" + cluster.node() : events,
                            "kubectl get pods --all-namespaces --output wide    # does its pod run there?",
                            "kubectl --namespace NAMESPACE logs POD    # it says what is left out, and why"));
        }
    }
}

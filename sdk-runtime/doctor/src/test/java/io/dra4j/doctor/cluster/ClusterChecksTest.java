// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.cluster.ClusterApi.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each planted failure is found, once, and nothing in healthy clusters. */
class ClusterChecksTest {

    private static final long SEED = Long.getLong("dra4j.seed", 26);
    private static final String NODE = "node-a";
    private static final String DRIVER = "gpu.nvidia.com";
    private static final String NODES = "api/v1/nodes";
    private static final String ACCOUNT = "dra-nvidia:gpus";

    private final FakeCluster api = new FakeCluster("v1.36.2");

    ClusterChecksTest() {
        api.node(NODE, "v1.36.2", "containerd://2.1.4");
        api.slice(DRIVER, NODE, "slice-a", 1);
        api.daemonSet("dra-nvidia", "gpus", "/usr/bin/gpu-kubelet-plugin", NODE);
    }

    private static Report clusterReport(FakeCluster api) {
        return Report.of("the cluster", ClusterChecks.ofCluster(new ClusterView(api, Scope.CLUSTER), ACCOUNT));
    }

    private static Report nodeReport(FakeCluster api, String node, Instant now) {
        List<Check> checks = new ArrayList<>(
                ClusterChecks.ofNode(api, DRIVER, node, InstantSource.fixed(now), () -> "boot-of-" + NODE));
        checks.add(ClusterChecks.migManager(api, DRIVER, node));
        return Report.of("node " + node, checks);
    }

    private ObjectNode node() {
        return (ObjectNode) api.get(NODES + "/" + NODE).body();
    }

    /**
     * A failure to plant.
     *
     * @param id of its finding
     * @param object of its finding
     * @param seenOn {@code cluster}, {@code node} or {@code both}
     */
    private record Planted(String id, String object, String seenOn, Consumer<ClusterChecksTest> plant) {
        @Override
        public String toString() {
            return id + " of " + object;
        }
    }

    static Stream<Planted> failures() {
        return Stream.of(ofVersions(), ofNodes(), ofObjects(), ofRights()).flatMap(some -> some);
    }

    private static Stream<Planted> ofVersions() {
        String node = "node/" + NODE;
        return Stream.of(
                new Planted("server-version", "API server", "both", test -> test.api.version("v1.33.4", false)),
                new Planted("server-version", "API server", "both", test -> test.api.version("v1.36.2", false)),
                new Planted("server-version", "API server", "both", test -> test.api.version("v1.39.0", true)),
                new Planted("server-version", "API server", "both", test -> test.api.version("v2.0.1-vendor", true)),
                new Planted(
                        "kubelet-version",
                        node,
                        "both",
                        test -> test.node().withObject("/status/nodeInfo").put("kubeletVersion", "v1.33.9")),
                new Planted("runtime-version", node, "both", test -> test.runtime("containerd://1.6.36")),
                new Planted("runtime-version", node, "both", test -> test.runtime("cri-o://1.22.5")));
    }

    private static Stream<Planted> ofNodes() {
        String node = "node/" + NODE;
        return Stream.of(
                new Planted("legacy-device-plugin", node, "both", test -> test.offer("nvidia.com/gpu")),
                new Planted("legacy-device-plugin", node, "both", test -> test.offer("nvidia.com/mig-1g.10gb")),
                new Planted(
                        "two-drivers",
                        node,
                        "cluster",
                        test -> test.api.daemonSet(
                                "gpu-operator", "nvidia-dra-driver", "gpu-kubelet-plugin -v $(LOG_VERBOSITY)", NODE)),
                new Planted("mig-manager", node, "both", test -> test.layOut()));
    }

    private static Stream<Planted> ofObjects() {
        String node = "node/" + NODE;
        return Stream.of(
                new Planted(
                        "node-gone", "node/node-b", "cluster", test -> test.api.slice(DRIVER, "node-b", "slice-b", 1)),
                new Planted(
                        "node-gone",
                        "node/NODE-A.example.com",
                        "cluster",
                        test -> test.api.slice(DRIVER, "NODE-A.example.com", "slice-b", 1)),
                new Planted(
                        "no-devices",
                        "driver/" + DRIVER,
                        "node",
                        test -> test.api.remove("apis/resource.k8s.io/v1/resourceslices", "slice-a")),
                new Planted(
                        "pool-incomplete",
                        "pool/" + NODE,
                        "both",
                        test -> test.api
                                .slice(DRIVER, NODE, "slice-b", 3)
                                .withObject("/spec/pool")
                                .put("generation", 4)),
                new Planted(
                        "pool-incomplete", "pool/" + NODE, "both", test -> test.api.slice(DRIVER, NODE, "stale", 1)),
                new Planted("clock", node, "cluster", test -> test.api.lease(NODE, FakeCluster.NOW.minusSeconds(600))),
                new Planted("clock", node, "cluster", test -> test.api.lease(NODE, FakeCluster.NOW.plusSeconds(600))),
                new Planted(
                        "boot-id",
                        node,
                        "node",
                        test -> test.node().withObject("/status/nodeInfo").put("bootID", "an-earlier-boot")));
    }

    private static Stream<Planted> ofRights() {
        String user = "system:serviceaccount:" + ACCOUNT;
        return Stream.of(
                new Planted(
                        "admission",
                        "resourceslices",
                        "node",
                        test -> test.api.refuseSlices(
                                "ValidatingAdmissionPolicy 'own-node' denied request: no node" + " in the token")),
                new Planted("rbac", user, "both", test -> test.api.deny("watch resourceslices")),
                new Planted("rbac", user, "both", test -> test.api.deny("get resourceclaims")),
                new Planted("rbac", user, "both", test -> test.api.deny("create events")));
    }

    private void runtime(String version) {
        node().withObject("/status/nodeInfo").put("containerRuntimeVersion", version);
    }

    private void offer(String resource) {
        node().withObject("/status/allocatable").put(resource, "8");
    }

    private void layOut() {
        node().withObject("/metadata/labels").put("nvidia.com/mig.config", "all-1g.10gb");
        String slice = "apis/resource.k8s.io/v1/resourceslices/slice-a";
        FakeCluster.partition((ObjectNode) api.get(slice).body(), "mig");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aPlantedFailureIsFoundOnce(Planted planted) {
        planted.plant().accept(this);

        List<Finding> ofCluster = clusterReport(api).findings();
        List<Finding> ofNode = nodeReport(api, NODE, FakeCluster.NOW).findings();

        assertFound(planted, ofCluster, "cluster");
        assertFound(planted, ofNode, "node");
    }

    private static void assertFound(Planted planted, List<Finding> findings, String where) {
        if (planted.seenOn().equals(where) || planted.seenOn().equals("both")) {
            assertThat(findings)
                    .extracting(one -> one.id() + " of " + one.object())
                    .containsExactly(planted.toString());
            // the context's namespace need not be that of the Node's Events
            assertThat(findings.get(0).fix()).noneMatch(fix -> fix.startsWith("kubectl get events --field-selector"));
        } else {
            assertThat(findings).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "v1.34.1, false, error, and DynamicResourceAllocation=false from --feature-gates",
        "v1.38.0, false, error, from --runtime-config of kube-apiserver", // its gate is gone
        "v1.39.0, true, warning, to a version that knows Kubernetes 1.39"
    })
    void theAdviceOnAServerFitsItsRelease(String version, boolean withDra, String severity, String fix) {
        api.version(version, withDra);

        assertThat(clusterReport(api).findings()).singleElement().satisfies(one -> {
            assertThat(one.severity()).hasToString(severity.toUpperCase(Locale.ROOT));
            assertThat(one.fix().get(0)).endsWith(fix);
        });
    }

    @Test
    void theFailuresAreOfAllChecks() {
        TreeSet<String> planted = new TreeSet<>();
        failures().forEach(one -> planted.add(one.id()));
        planted.add("node-name"); // below, as it needs another name

        assertThat(planted).isEqualTo(ids());
    }

    private TreeSet<String> ids() {
        TreeSet<String> ids = new TreeSet<>();
        ClusterChecks.ofCluster(new ClusterView(api, Scope.CLUSTER), ACCOUNT).forEach(one -> ids.add(one.id()));
        ClusterChecks.ofNode(api, DRIVER, NODE, InstantSource.system(), () -> "")
                .forEach(one -> ids.add(one.id()));
        return ids;
    }

    @Test
    void aNodeOfAnotherNameIsFound() {
        assertThat(nodeReport(api, "node-a.example.com", FakeCluster.NOW).findings())
                .extracting(Finding::id)
                .containsExactly("node-name");
    }

    @Test
    void aDriverOrANodeThatIsNotThereIsFound() {
        assertThat(found(new Scope("gpu.example.com", null))).containsExactly("no-devices");
        assertThat(found(new Scope(DRIVER, "node-b"))).containsExactly("node-name");
        assertThat(found(new Scope(DRIVER, NODE))).isEmpty();
    }

    private List<String> found(Scope scope) {
        return found(api, scope);
    }

    private static List<String> found(FakeCluster api, Scope scope) {
        ClusterView view = new ClusterView(api, scope);
        return Report.of("a part", ClusterChecks.ofCluster(view, "")).findings().stream()
                .map(Finding::id)
                .toList();
    }

    @Test
    void theClockOfThisNodeIsCompared() {
        assertThat(nodeReport(api, NODE, FakeCluster.NOW.plusSeconds(20)).findings())
                .isEmpty();
        assertThat(nodeReport(api, NODE, FakeCluster.NOW.minusSeconds(45)).findings())
                .extracting(Finding::what)
                .containsExactly("its clock is 45 s behind the API server's");
    }

    @Test
    void whatMayNotBeReadIsNotChecked() {
        api.hide("apis/apps/v1/daemonsets").hide(NODES);

        Report report = clusterReport(api);

        assertThat(report.findings()).isEmpty();
        assertThat(report.exitStatus()).isEqualTo(Report.INCOMPLETE);
        assertThat(report.text())
                .containsPattern("not checked  two-drivers +GET apis/apps/v1/daemonsets was answered")
                .containsPattern("not checked  node-gone")
                .containsPattern("ok           pool-incomplete");
    }

    /** For example the page of a login, or that of a gateway whose server does not answer. */
    @ParameterizedTest
    @ValueSource(ints = {200, 502})
    void nothingIsHealthyAndNothingIsFoundInTheAnswersOfAProxy(int status) {
        Answer page = new Answer(status, JsonNodeFactory.instance.objectNode(), FakeCluster.NOW);
        ClusterApi proxy = new ClusterApi() {
            @Override
            public Answer get(String path) {
                return page;
            }

            @Override
            public Answer create(String path, JsonNode body) {
                return page;
            }
        };
        List<Check> checks = ClusterChecks.ofNode(
                proxy, DRIVER, NODE, InstantSource.fixed(FakeCluster.NOW), () -> "boot-of-" + NODE);

        Report report = Report.of("node", checks);

        assertThat(report.findings()).isEmpty();
        assertThat(report.text()).contains("0 checks ran: nothing found; 11 checks could not run");
    }

    @Test
    void aBootIdThatCannotBeReadIsNotChecked() {
        List<Check> checks = ClusterChecks.ofNode(api, DRIVER, NODE, InstantSource.fixed(FakeCluster.NOW), () -> {
            throw new NotCheckedException("no /proc");
        });

        assertThat(Report.of("node", checks).text()).containsPattern("not checked  boot-id +no /proc");
    }

    @Test
    void aThousandHealthyClustersHaveNoFinding() {
        Random random = new Random(SEED);
        for (int i = 0; i < 1000; i++) {
            HealthyCluster healthy = new HealthyCluster(random);

            Report report = clusterReport(healthy.api);

            assertThat(report.text()).as("cluster %d of seed %d", i, SEED).contains("nothing found");
            assertThat(report.exitStatus()).isZero();
            assertThat(healthy.withDevices)
                    .as("nodes of cluster %d of seed %d", i, SEED)
                    .allSatisfy(node -> assertThat(found(healthy.api, new Scope(null, node)))
                            .isEmpty());
        }
    }

    @Test
    void aRemovedNodeIsNoOtherNameOfItsNeighbour() {
        api.slice(DRIVER, "node-a2", "slice-b", 1);

        assertThat(clusterReport(api).findings())
                .singleElement()
                .satisfies(one -> assertThat(one.severity()).isEqualTo(Severity.WARNING));
    }

    @Test
    void aClusterOfFiveThousandNodesIsChecked() {
        FakeCluster large = new FakeCluster("v1.36.2");
        for (int i = 0; i < 5000; i++) {
            large.node("n" + i, "v1.36.2", "containerd://2.1.4");
            large.slice(DRIVER, "n" + i, "s" + i, 1);
        }

        assertTimeout(
                Duration.ofMinutes(1),
                () -> assertThat(clusterReport(large).findings()).isEmpty());
        large.largest = 0;
        nodeReport(large, "n1", FakeCluster.NOW);
        assertThat(large.largest).as("a driver's pod has little memory").isOne();
    }

    /**
     * A random cluster in which nothing is wrong: releases, runtimes, names and drivers vary, and some nodes have
     * device plugins for other devices, the label of a MIG manager that is off, or no driver; one pool spans nodes.
     */
    private static final class HealthyCluster {

        private static final List<String> SERVERS =
                List.of("v1.34.0", "v1.34.1+k3s1", "v1.35.2-gke.1200", "v1.36.2", "v1.37.0-rc.0");
        private static final List<String> RUNTIMES = List.of(
                "containerd://1.7.27",
                "containerd://2.0.5",
                "containerd://2.1.4-k3s1",
                "cri-o://1.34.1",
                "containerd://v2.2.0");
        private static final List<String> DRIVERS =
                List.of("gpu.nvidia.com", "gpu.example.com", "dra.net", "gpu.intel.com");

        final FakeCluster api;
        final List<String> nodes = new ArrayList<>();
        final List<String> drivers = new ArrayList<>();
        final List<String> withDevices = new ArrayList<>();
        private final Random random;

        public HealthyCluster(Random random) {
            this.random = random;
            this.api = new FakeCluster(one(SERVERS));
            int number = 1 + random.nextInt(6);
            for (int i = 0; i < number; i++) {
                node(i);
            }
            spanningPool();
            fleets();
        }

        private <T> T one(List<T> of) {
            return of.get(random.nextInt(of.size()));
        }

        private void node(int number) {
            String name = one(List.of("node-%d", "ip-10-0-0-%d.ec2.internal", "gpu%d", "a.b.c.n%d"))
                    .formatted(number);
            String driver = one(DRIVERS);
            nodes.add(name);
            drivers.add(driver);
            ObjectNode node = api.node(name, one(SERVERS), one(RUNTIMES));
            ObjectNode labels = node.withObject("/metadata/labels");
            ObjectNode allocatable = node.withObject("/status/allocatable");
            api.lease(name, Instant.from(FakeCluster.NOW).minusSeconds(random.nextInt(40)));
            if (random.nextInt(3) == 0) {
                // A node of the control plane, or of pods without devices: an old kubelet does no harm.
                node.withObject("/status/nodeInfo").put("kubeletVersion", "v1.33.4");
                allocatable.put("nvidia.com/gpu", "8");
                return;
            }
            allocatable.put("nvidia.com/gpu", "0").put("example.com/fpga", "2");
            allocatable.put("intel.com/sriov_nic", "16").put("nvidia.com/cc-license", "1");
            slices(driver, name, labels);
            withDevices.add(name);
        }

        /** A pool with a slice for each of some nodes. */
        private void spanningPool() {
            String driver = one(DRIVERS);
            for (String node : withDevices) {
                ObjectNode slice = api.slice(driver, node, "fabric-" + node, withDevices.size());
                slice.withObject("/spec/pool").put("name", "fabric");
            }
        }

        private void slices(String driver, String node, ObjectNode labels) {
            int number = 1 + random.nextInt(3);
            boolean dynamic = driver.equals("gpu.nvidia.com") && random.nextBoolean();
            for (int i = 0; i < number; i++) {
                ObjectNode slice = api.slice(driver, node, node + "-" + i, number);
                if (dynamic) {
                    FakeCluster.partition(slice, "mig");
                } else if (random.nextBoolean()) {
                    FakeCluster.partition(slice, "gpu"); // as for virtual machines
                }
            }
            if (random.nextBoolean()) {
                ObjectNode old = api.slice(driver, node, node + "-old", 9);
                old.withObject("/spec/pool").put("generation", 2);
            }
            if (dynamic) {
                labels.put("nvidia.com/gpu.deploy.mig-manager", "false");
            }
            labels.put("nvidia.com/mig.config", "all-disabled");
        }

        /** One driver for all nodes, or two that share them out. */
        private void fleets() {
            api.daemonSet("kube-system", "kube-proxy", "kube-proxy", nodes.toArray(String[]::new));
            int middle = random.nextInt(nodes.size() + 1);
            api.daemonSet(
                    "dra-nvidia",
                    "gpus",
                    "/usr/bin/gpu-kubelet-plugin",
                    nodes.subList(0, middle).toArray(String[]::new));
            if (random.nextBoolean()) {
                api.daemonSet(
                        "gpu-operator",
                        "dra-kubelet-plugin",
                        "bash -c gpu-kubelet-plugin -v 4",
                        nodes.subList(middle, nodes.size()).toArray(String[]::new));
            }
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.kubectl.read.PodInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each planted contradiction is found, once, and a healthy cluster has none. */
class ClusterAuditTest {

    private static final long SEED = Long.getLong("dra4j.seed", 20);
    private static final Path PAGE = Path.of("../../docs-site/how-to/audit-a-node.md");

    private static final Map<String, Planted> PLANTED = new TreeMap<>(Map.of(
            "device-not-published", cluster -> cluster.remove("node-0", "gpu-0"),
            "pool-not-published", cluster -> cluster.remove("node-0"),
            "device-allocated-twice", cluster -> cluster.hold("node-0", "gpu-0"),
            "node-gone", cluster -> cluster.nodes.remove("node-0"),
            "capacity-exceeded", cluster -> cluster.share("60Gi", "60Gi"),
            "counters-exceeded", cluster -> cluster.counter = "60Gi",
            "reserved-for-no-pod",
                    cluster -> cluster.pods.set(0, new PodInfo("default", "pod-0", "new", "", false, List.of())),
            "pod-not-reserved",
                    cluster -> cluster.pods.add(
                            new PodInfo("default", "late", "late", "node-0", false, List.of("claim-0")))));

    @Test
    void aCapacityIsExceededInBothFormsOfItsName() {
        ClusterModel cluster = new ClusterModel(new Random(SEED));
        cluster.shareOf("bandwidth", "60Gi");
        cluster.shareOf("net.example.com/bandwidth", "60Gi");

        assertThat(report(cluster).findings()).extracting(Finding::id).containsExactly("capacity-exceeded");
    }

    private interface Planted {
        void in(ClusterModel cluster);
    }

    private static Report report(ClusterModel cluster) {
        return Report.of("audit", "cluster", ClusterAudit.of(cluster.snapshot(), () -> cluster.pods));
    }

    @Test
    void healthyClustersHaveNoContradictions() {
        Random seeds = new Random(SEED);
        for (int i = 0; i < 1000; i++) {
            Report report = report(new ClusterModel(new Random(seeds.nextLong())));
            assertThat(report.findings()).as("cluster %s of seed %s", i, SEED).isEmpty();
            assertThat(report.exitStatus()).isEqualTo(Report.HEALTHY);
        }
    }

    static List<String> ids() {
        return List.copyOf(PLANTED.keySet());
    }

    @ParameterizedTest
    @MethodSource("ids")
    void aPlantedContradictionIsFoundOnce(String id) {
        Random seeds = new Random(SEED);
        for (int i = 0; i < 50; i++) {
            ClusterModel cluster = new ClusterModel(new Random(seeds.nextLong()));
            PLANTED.get(id).in(cluster);
            assertThat(report(cluster).findings())
                    .as("cluster %s", i)
                    .extracting(Finding::id)
                    .containsExactly(id);
        }
    }

    @Test
    void eachClaimOfAPodIsAnObject() {
        ClusterModel cluster = new ClusterModel(new Random(SEED));
        cluster.pods.add(new PodInfo("default", "late", "late", "node-0", false, List.of("claim-0", "claim-1")));

        assertThat(report(cluster).findings())
                .extracting(Finding::object)
                .containsExactly("pod default/late with claim claim-0", "pod default/late with claim claim-1");
    }

    @Test
    void allChecksArePlantedAndOnThePage() throws Exception {
        List<String> ids = new ArrayList<>();
        ClusterAudit.of(new ClusterModel(new Random(SEED)).snapshot(), List::of).forEach(check -> ids.add(check.id()));
        assertThat(ids)
                .startsWith("object-unreadable")
                .filteredOn(id -> !id.equals("object-unreadable"))
                .containsExactlyInAnyOrderElementsOf(PLANTED.keySet());
        assertThat(Files.readString(PAGE))
                .contains(ids.stream().map(id -> "| `" + id + "` | ").toList());
    }

    /** An object that seems to be missed may be one of these. */
    @ParameterizedTest
    @MethodSource("ids")
    void objectsThatCannotBeReadAreNotMissed(String id) {
        ClusterModel cluster = new ClusterModel(new Random(SEED));
        PLANTED.get(id).in(cluster);
        cluster.unread.add("left out, since it can't be read: claim default/late");

        Report report = report(cluster);

        boolean isMissed = List.of("device-not-published", "pool-not-published", "pod-not-reserved")
                .contains(id);
        assertThat(report.findings()).extracting(Finding::id).isEqualTo(isMissed ? List.of() : List.of(id));
        assertThat(report.text())
                .containsPattern("not checked +object-unreadable +left out, since")
                .contains("claim default/late");
    }

    @Test
    void withoutTheRightToListPodsReservationsAreNotChecked() {
        Report report =
                Report.of("audit", "cluster", ClusterAudit.of(new ClusterModel(new Random(SEED)).snapshot(), () -> {
                    throw new NotCheckedException("You may not read pods");
                }));
        assertThat(report.exitStatus()).isEqualTo(Report.INCOMPLETE);
        assertThat(report.text()).contains("not checked  pod-not-reserved");
    }

    /** The scheduler's rule: all slices of the newest generation, as many as the first one says. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, false", // one slice too many
        "2, 2, false", // one of two
        "2, 1, true",
    })
    void aDeviceIsMissedIfItsPoolIsComplete(long generation, int slicesOfPool, boolean missed) {
        ClusterModel cluster = new ClusterModel(new Random(SEED));
        cluster.publish("node-0", 0, 1); // an older generation, which does not count
        cluster.remove("node-0", "gpu-0");

        cluster.publish("node-0", generation, slicesOfPool);

        assertThat(report(cluster).findings())
                .extracting(Finding::id)
                .isEqualTo(missed ? List.of("device-not-published") : List.of());
    }
}

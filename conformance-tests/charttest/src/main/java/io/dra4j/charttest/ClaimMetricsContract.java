// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.charttest.Manifests.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules for the metrics of waiting claims in each driver's chart; a test of the driver extends this. */
public abstract class ClaimMetricsContract {

    private static final HelmChart CHART = ChartContract.CHART;
    private static final ChartInstallation ON = ChartInstallation.DEFAULT.set("claimMetrics.enabled", true);
    private static final Path ALL_PARTS = Path.of("deploy/values/all-parts.yaml");

    /** Returns the objects that the value adds, and no others. */
    private static List<ObjectNode> added(ChartInstallation without, ChartInstallation with) {
        Manifests before = CHART.render(without);
        return CHART.render(with).objects().stream()
                .filter(object -> !before.objects().contains(object))
                .toList();
    }

    @Test
    void itAddsObjectsAndChangesNone() {
        assertThat(added(ChartInstallation.DEFAULT, ON))
                .extracting(object -> object.path("kind").asText())
                .containsExactlyInAnyOrder(
                        "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment", "Service");
        assertThat(CHART.render(ON).objects())
                .containsAll(CHART.render(ChartInstallation.DEFAULT).objects());
    }

    @Test
    void withoutRbacTheNotesNameTheServiceAccountThatNeedsRights() {
        String account = CHART.render(ON)
                .one(Kind.Deployment)
                .at("/spec/template/spec/serviceAccountName")
                .asText();

        assertThat(CHART.output(ON.set("rbac.create", false)))
                .contains("The ServiceAccount " + account + " needs the rights");
        assertThat(CHART.output(ChartInstallation.DEFAULT.set("rbac.create", false)))
                .contains("rbac.create is off")
                .doesNotContain(account);
        assertThat(CHART.output(ON)).contains("rollout status").doesNotContain(account);
    }

    @Test
    void itsSelectorsAndTheDriversAreApart() {
        Manifests all = CHART.render(ChartInstallation.DEFAULT.file(ALL_PARTS));
        JsonNode labels = all.one(Kind.Deployment).at("/spec/template/metadata/labels");
        JsonNode ofDriver = all.one(Kind.DaemonSet).at("/spec/template/metadata/labels");

        for (Kind kind : List.of(Kind.PodMonitor, Kind.NetworkPolicy)) {
            String at = kind == Kind.PodMonitor ? "/spec/selector" : "/spec/podSelector";
            List<JsonNode> selectors = all.of(kind).stream()
                    .map(one -> one.at(at + "/matchLabels"))
                    .toList();
            assertThat(selectors).as(kind.name()).hasSize(2);
            assertThat(selectors)
                    .filteredOn(one -> Manifests.selects(one, labels))
                    .hasSize(1);
            assertThat(selectors)
                    .filteredOn(one -> Manifests.selects(one, ofDriver))
                    .hasSize(1);
            assertThat(selectors).noneMatch(one -> Manifests.selects(one, labels) && Manifests.selects(one, ofDriver));
        }
        assertThat(Stream.of(
                        all.one(Kind.Service).at("/spec/selector"),
                        all.one(Kind.Deployment).at("/spec/selector/matchLabels")))
                .allMatch(one -> Manifests.selects(one, labels))
                .noneMatch(one -> Manifests.selects(one, ofDriver));
        assertThat(Manifests.selects(all.one(Kind.DaemonSet).at("/spec/selector/matchLabels"), labels))
                .isFalse();
    }

    @Test
    void whatScrapesReachesItsPort() {
        Manifests all = CHART.render(ChartInstallation.DEFAULT.file(ALL_PARTS).set("claimMetrics.containerPort", 9090));
        DriverContainer container = DriverContainer.ofDeployment(all);
        JsonNode port = container.container().at("/ports/0");

        assertThat(port.path("containerPort").asInt()).isEqualTo(9090);
        assertThat(container.environment()).containsEntry("HTTP_ENDPOINT", ":9090");
        assertThat(all.one(Kind.Service).at("/spec/ports/0/port").asInt()).isEqualTo(9090);
        assertThat(all.one(Kind.Service).at("/spec/ports/0/targetPort")).isEqualTo(port.path("name"));
        assertThat(all.of(Kind.PodMonitor))
                .allMatch(one -> one.at("/spec/podMetricsEndpoints/0/port").equals(port.path("name")));
        assertThat(all.of(Kind.NetworkPolicy))
                .filteredOn(one -> one.at("/metadata/name").asText().endsWith("-claims"))
                .singleElement()
                .satisfies(one -> {
                    assertThat(one.at("/spec/ingress/0/ports/0/port")).isEqualTo(port.path("name"));
                    assertThat(one.at("/spec/egress/0/ports")).isNotEmpty();
                    assertThat(one.at("/spec/ingress/0/from")).isNotEmpty();
                });
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(container.container().at("/" + probe + "/httpGet/port")).isEqualTo(port.path("name"));
        }
    }

    @Test
    void itRunsTheDriversProgramWithoutRightsOnTheNode() {
        Manifests manifests = CHART.render(ON);
        DriverContainer container = DriverContainer.ofDeployment(manifests);
        DriverContainer driver = DriverContainer.of(manifests);

        assertThat(container.command()).isEqualTo(driver.command());
        assertThat(container.arguments()).containsExactly("claim-metrics", "-v", "0");
        assertThat(container.environment().get("DRIVER_NAME"))
                .isEqualTo(driver.environment().get("DRIVER_NAME"));
        assertThat(container.container().path("image"))
                .isEqualTo(driver.container().path("image"));
        container.assertHasNoRightsOnTheNode();
        assertThat(DriverContainer.ofDeployment(CHART.render(ON.set("openshift.enabled", true)))
                        .pod()
                        .at("/securityContext/runAsUser")
                        .isMissingNode())
                .isTrue();
    }

    @Test
    void itsPodsAreAdmittedByTheQuota() {
        ChartInstallation all = ChartInstallation.DEFAULT.file(ALL_PARTS).set("claimMetrics.priorityClassName", "own");
        assertThat(CHART.render(all).one(Kind.ResourceQuota).findValue("values").toString())
                .isEqualTo("[\"system-node-critical\",\"own\"]");
    }

    @Test
    void itsAccountHasItsRightsAlone() {
        List<ObjectNode> added = added(ChartInstallation.DEFAULT, ON);
        String account = DriverContainer.ofDeployment(CHART.render(ON))
                .pod()
                .path("serviceAccountName")
                .asText();
        List<ObjectNode> roles = added.stream()
                .filter(one -> one.path("kind").asText().equals("ClusterRole"))
                .toList();

        assertThat(Right.granted(roles))
                .containsExactlyElementsOf(Right.of(Right.CLAIM_METRICS).stream()
                        .map(Right::toString)
                        .toList())
                .containsExactly("resource.k8s.io/resourceclaims list");
        assertThat(added)
                .filteredOn(one -> one.path("kind").asText().equals("ClusterRoleBinding"))
                .singleElement()
                .satisfies(one -> {
                    assertThat(one.at("/subjects/0/name").asText()).isEqualTo(account);
                    assertThat(one.at("/roleRef/name")).isEqualTo(roles.get(0).at("/metadata/name"));
                });
        assertThat(CHART.render(ChartInstallation.DEFAULT).serviceAccount()).doesNotEndWith(account);
        assertThat(CHART.render(ON.set("rbac.create", false)).kinds())
                .contains("Deployment")
                .doesNotContain("ClusterRole");
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.charttest.ChartContract;
import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The chart of the NVIDIA driver. */
@Tag("gate")
class ChartTest extends ChartContract {

    private static final List<String> SHARED = List.of("""
            imagePullSecrets nameOverride namespaceOverride allowDefaultNamespace serviceAccount rbac
            admissionPolicy logVerbosity loggingFormat cdiRoot devicePolicy webhook claimMetrics
            networkPolicy monitoring openshift resourceQuota
            """.split("\\s+"));
    private static final String LABEL = "nvidia.com/gpu.deploy.dra-driver";

    @Override
    protected String driver() {
        return "gpu.nvidia.com";
    }

    @Override
    protected String help() {
        return new CommandLine(new NvidiaOptions()).getUsageMessage();
    }

    @Override
    protected Set<String> foreignVariables() {
        return Set.of("NVIDIA_VISIBLE_DEVICES");
    }

    @ParameterizedTest
    @CsvSource({
        "1.34.0, auto, ''",
        "1.35.2, auto, ''",
        "1.36.0, auto, nvidia.com/gpu",
        "1.37.0-rc.0, auto, nvidia.com/gpu",
        "1.34.0, true, nvidia.com/gpu",
        "1.37.0, false, ''"
    })
    void theExtendedResourceIsThereWhereTheServerHasIt(String kubernetes, String enabled, String name) {
        Manifests manifests = CHART.render(ChartInstallation.DEFAULT
                .kubernetes(kubernetes)
                .set("deviceClasses.extendedResource.enabled", enabled));

        assertThat(manifests.of(Kind.DeviceClass))
                .extracting(
                        one -> one.at("/metadata/name").asText(),
                        one -> one.at("/spec/extendedResourceName").asText())
                .containsExactlyInAnyOrder(tuple("gpu.nvidia.com", name), tuple("mig.nvidia.com", ""));
    }

    /** A root that is mounted later, or again, appears only below a mount of the parent. */
    @ParameterizedTest
    @CsvSource({
        "/run/nvidia/driver/, /run/nvidia, /driver-root-parent/driver",
        "/home/kubernetes/bin/nvidia, /home/kubernetes/bin, /driver-root-parent/nvidia",
        "/, /, /driver-root-parent"
    })
    void theDriverRootIsSeenBelowItsParent(String root, String parent, String seen) {
        DriverContainer driver =
                DriverContainer.of(CHART.render(ChartInstallation.DEFAULT.set("nvidiaDriverRoot", root)));

        assertThat(driver.hostPaths()).containsEntry("driver-root-parent", parent);
        assertThat(driver.environment()).containsEntry("CONTAINER_DRIVER_ROOT", seen);
        assertThat(driver.container().path("volumeMounts").toString())
                .contains(
                        "\"driver-root-parent\",\"mountPath\":\"/driver-root-parent\",\"readOnly\":true,\"mountPropagation\":\"HostToContainer\"");
    }

    private static JsonNode terms(ChartInstallation installation) {
        return DriverContainer.of(CHART.render(installation))
                .pod()
                .at("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms");
    }

    @Test
    void eachTermKeepsAwayFromNodesWhoseDriverIsUpdated() {
        JsonNode terms = terms(ChartInstallation.DEFAULT);

        assertThat(terms).hasSize(4);
        assertThat(terms).allSatisfy(term -> {
            assertThat(term.path("matchExpressions")).hasSize(2);
            assertThat(term.at("/matchExpressions/1/key").asText()).isEqualTo(LABEL);
            assertThat(term.at("/matchExpressions/1/operator").asText()).isEqualTo("NotIn");
        });
        assertThat(terms(ChartInstallation.DEFAULT.set("kubeletPlugin.deployLabel", ""))
                        .toString())
                .doesNotContain(LABEL);
    }

    @Test
    void withoutAnAffinityTheLabelCountsAlone() {
        JsonNode terms = terms(ChartInstallation.DEFAULT.set("kubeletPlugin.affinity", "null"));

        assertThat(terms).hasSize(1);
        assertThat(terms.at("/0/matchExpressions")).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            featureGates.NVMLDeviceHealthCheck=true featureGates.MPSSupport=false | FEATURE_GATES=MPSSupport=false,NVMLDeviceHealthCheck=true
            consumableShares=2                                                    | CONSUMABLE_SHARES=2
            dynamicMig.enabled=true                                               | DYNAMIC_MIG=true
            thresholds.temperatureCelsius=85 thresholds.intervalSeconds=5         | TEMPERATURE_THRESHOLD=85 THRESHOLD_INTERVAL=5
            xidEffects.63=NoSchedule xidEffects.48=NoExecute                      | XID_EFFECTS=48=NoExecute,63=NoSchedule
            fabricEffect=NoSchedule                                               | FABRIC_EFFECT=NoSchedule
            devRoot=/host/dev                                                     | DEV_ROOT=/host/dev CONTAINER_DEV_ROOT=/dev-root
            driverFolders.libraries[0]=/opt/a driverFolders.libraries[1]=/opt/b   | DRIVER_LIBRARY_FOLDERS=/opt/a,/opt/b
            """)
    void valuesBecomeVariablesThatAreOtherwiseNotThere(String values, String variables) throws IOException {
        ChartInstallation installation = ChartInstallation.DEFAULT;
        for (String value : values.split(" ")) {
            String[] parts = value.split("=", 2);
            installation = installation.set(parts[0], new YAMLMapper().readValue(parts[1], Object.class));
        }
        Map<String, String> usual =
                DriverContainer.of(CHART.render(ChartInstallation.DEFAULT)).environment();
        Map<String, String> changed =
                new HashMap<>(DriverContainer.of(CHART.render(installation)).environment());
        changed.entrySet().removeAll(usual.entrySet());

        assertThat(changed)
                .isEqualTo(Stream.of(variables.split(" "))
                        .map(variable -> variable.split("=", 2))
                        .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1])));
    }

    @Test
    void anUnknownEffectOfErrorsIsRefused() {
        assertThatThrownBy(() -> CHART.render(ChartInstallation.DEFAULT.set("xidEffects.48", "Never")))
                .hasMessageContaining("/xidEffects/48");
    }

    @Test
    void theFoldersOfTheNodeAreSeenOrNamed() {
        DriverContainer usual = DriverContainer.of(CHART.render(ChartInstallation.DEFAULT));
        assertThat(usual.pod().path("volumes").toString()).contains("{\"path\":\"/dev\",\"type\":\"Directory\"}");
        assertThat(usual.container().path("volumeMounts").toString())
                .contains("\"name\":\"dev-root\",\"mountPath\":\"/dev-root\",\"readOnly\":true,\"mountPropagation\"");

        DriverContainer other = DriverContainer.of(CHART.render(ChartInstallation.DEFAULT.set("devRoot", "/host/dev")));
        assertThat(other.pod().path("volumes").toString())
                .contains("{\"path\":\"/host/dev\",\"type\":\"DirectoryOrCreate\"}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dynamicMig.enabled", "featureGates.DynamicMIG"})
    void letsTheDriverReportMigDevicesThatItMakes(String value) {
        assertThat(CHART.render(ChartInstallation.DEFAULT.set(value, true)).yaml())
                .contains("resourceclaims/status");
        assertThat(CHART.render(ChartInstallation.DEFAULT).yaml()).doesNotContain("resourceclaims/status");
    }

    @ParameterizedTest
    @CsvSource({
        "dynamicMig.destroyUnknownDevices, true, needs dynamicMig.enabled",
        "featureGates.AllAlpha, true, /featureGates/AllAlpha",
        "consumableShares, true, /consumableShares",
        "resources.computeDomains.enabled, true, /resources/computeDomains/enabled",
        "resources.gpus.enabled, false, /resources/gpus/enabled"
    })
    void whatThisDriverDoesNotHaveIsRefused(String path, boolean value, String message) {
        assertThatThrownBy(() -> CHART.render(ChartInstallation.DEFAULT.set(path, value)))
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({"true, true, Bidirectional", "false, false, ''"})
    void mpsAloneTakesTheProcessesAndMountsOfTheNode(boolean gate, boolean hostPid, String propagation) {
        Manifests manifests = CHART.render(
                ChartInstallation.DEFAULT.set("featureGates.MPSSupport", gate).set("openshift.enabled", true));
        DriverContainer driver = DriverContainer.of(manifests);

        assertThat(driver.pod().path("hostPID").asBoolean(false)).isEqualTo(hostPid);
        assertThat(driver.container().at("/volumeMounts/0/name").asText()).isEqualTo("plugin");
        assertThat(driver.container().at("/volumeMounts/0/mountPropagation").asText(""))
                .isEqualTo(propagation);
        assertThat(manifests
                        .one(Kind.SecurityContextConstraints)
                        .path("allowHostPID")
                        .asBoolean(!hostPid))
                .isEqualTo(hostPid);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void passthroughTakesTheProcessesAndSysfsOfTheNode(boolean gate) {
        Manifests manifests = CHART.render(ChartInstallation.DEFAULT.set("featureGates.PassthroughSupport", gate));
        DriverContainer driver = DriverContainer.of(manifests);

        assertThat(driver.pod().path("hostPID").asBoolean(false)).isEqualTo(gate);
        assertThat(driver.container().at("/volumeMounts/0/mountPropagation").isMissingNode())
                .isTrue();
        assertThat(driver.container()
                        .path("volumeMounts")
                        .toString()
                        .contains("{\"name\":\"sys\",\"mountPath\":\"/sys\"}"))
                .isEqualTo(gate);
        assertThat(driver.pod().path("volumes").toString().contains("{\"path\":\"/sys\",\"type\":\"Directory\"}"))
                .isEqualTo(gate);
        assertThat(manifests.of(Kind.DeviceClass).toString().contains("vfio.gpu.nvidia.com"))
                .isEqualTo(gate);
    }

    @ParameterizedTest
    @CsvSource({"true, dra-driver-nvidia-gpu-kubelet-plugin, kubelet-plugin", "false, dra4j-nvidia-driver, ''"})
    void hasTheNamesOfNvidiasChartOnRequest(boolean given, String name, String component) {
        Manifests manifests = CHART.render(ChartInstallation.DEFAULT.set("compatibility", given));
        JsonNode driver = manifests.one(Kind.DaemonSet);

        assertThat(driver.at("/metadata/name").asText()).endsWith(name);
        assertThat(driver.at("/spec/template/metadata/labels")
                        .path("dra-driver-nvidia-gpu-component")
                        .asText())
                .isEqualTo(component);
        assertThat(driver.at("/spec/selector/matchLabels")).hasSize(2);
        assertThat(manifests.of(Kind.DeviceClass).toString().contains("vfio.gpu.nvidia.com"))
                .isEqualTo(given);
        assertThat(DriverContainer.of(manifests).environment().containsKey("NVIDIA_METRICS"))
                .isEqualTo(given);
    }

    /** It waits for NVIDIA's driver itself: before it is registered, no pod of before can end. */
    @Test
    void nothingRunsBeforeTheDriver() {
        JsonNode pod = DriverContainer.of(CHART.render(
                        ChartInstallation.DEFAULT.set("kubeletPlugin.containers.init.resources.limits.memory", "1Gi")))
                .pod();

        assertThat(pod.has("initContainers")).isFalse();
        assertThat(pod.at("/containers/0/securityContext/privileged").asBoolean())
                .isTrue();
    }

    @Test
    void aGateOfMigThatIsOffContradictsTheValueOfThisChart() {
        assertThatThrownBy(() -> CHART.render(ChartInstallation.DEFAULT
                        .set("dynamicMig.enabled", true)
                        .set("featureGates.DynamicMIG", false)))
                .hasMessageContaining("contradict each other");
    }

    /** Values of one name mean the same in both charts, and have the same defaults. */
    @Test
    void sharesValuesWithTheChartOfTheFakeDriver() throws IOException {
        for (String file : List.of("values.yaml", "values.schema.json")) {
            JsonNode here =
                    new YAMLMapper().readTree(CHART.folder().resolve(file).toFile());
            JsonNode there = new YAMLMapper()
                    .readTree(
                            Path.of("../example-fake-driver/deploy/helm", file).toFile());
            String root = file.endsWith("json") ? "/properties" : "";
            for (String key : SHARED) {
                assertThat(here.at(root + "/" + key)).as(file + " " + key).isEqualTo(there.at(root + "/" + key));
                assertThat(here.at(root + "/" + key).isMissingNode()).isFalse();
            }
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.charttest.ChartContract;
import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

        assertThat(terms).hasSize(5);
        assertThat(terms).allSatisfy(term -> {
            assertThat(term.path("matchExpressions")).hasSize(2);
            assertThat(term.at("/matchExpressions/1/key").asText()).isEqualTo(LABEL);
            assertThat(term.at("/matchExpressions/1/operator").asText()).isEqualTo("NotIn");
        });
        assertThat(terms(ChartInstallation.DEFAULT.set("kubeletPlugin.deployLabel", ""))
                        .toString())
                .doesNotContain(LABEL);
    }

    /** A kind stands for all objects of it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            # MPS alone takes the processes and mounts of the node
            featureGates.MPSSupport=true openshift.enabled=true | pod | /hostPID | true
            featureGates.MPSSupport=true | container | /volumeMounts/0 | has "name":"plugin","mountPath":"/var/lib/kubelet/plugins/gpu.nvidia.com","mountPropagation":"Bidirectional"
            featureGates.MPSSupport=true openshift.enabled=true | SecurityContextConstraints | /0/allowHostPID | true
            featureGates.MPSSupport=false | pod | /hostPID | none
            featureGates.MPSSupport=false | container | /volumeMounts/0/mountPropagation | none
            featureGates.MPSSupport=false openshift.enabled=true | SecurityContextConstraints | /0/allowHostPID | false
            openshift.enabled=true | SecurityContextConstraints | /0/seLinuxContext | has {"type":"RunAsAny"}
            openshift.enabled=true kubeletPlugin.containers.gpus.securityContext="null" | SecurityContextConstraints | /0/allowPrivilegedContainer | false
            # passthrough takes the processes and sysfs of the node
            featureGates.PassthroughSupport=true | pod | /hostPID | true
            featureGates.PassthroughSupport=true | container | /volumeMounts/0/mountPropagation | none
            featureGates.PassthroughSupport=true | container | /volumeMounts | has {"name":"sys","mountPath":"/sys"}
            featureGates.PassthroughSupport=true | pod | /volumes | has {"path":"/sys","type":"Directory"}
            featureGates.PassthroughSupport=true | DeviceClass | | has vfio.gpu.nvidia.com
            featureGates.PassthroughSupport=false | container | /volumeMounts | lacks "/sys"
            featureGates.PassthroughSupport=false | pod | /volumes | lacks "/sys"
            featureGates.PassthroughSupport=false | DeviceClass | | lacks vfio.gpu.nvidia.com
            # the names of NVIDIA's chart are there on request
            compatibility=true | DaemonSet | /0/metadata/name | has dra-driver-nvidia-gpu-kubelet-plugin
            compatibility=true | DaemonSet | /0/spec/template/metadata/labels/dra-driver-nvidia-gpu-component | kubelet-plugin
            compatibility=true | DeviceClass | | has vfio.gpu.nvidia.com
            compatibility=true | DaemonSet | /0/spec/selector/matchLabels | lacks component
            compatibility=true | container | /env | has "NVIDIA_METRICS"
            compatibility=false | DaemonSet | /0/metadata/name | has dra4j-nvidia-driver
            compatibility=false | DaemonSet | /0/spec/template/metadata/labels/dra-driver-nvidia-gpu-component | none
            compatibility=false | container | /env | lacks "NVIDIA_METRICS"
            # the folder of device nodes is seen, or named
            devRoot=/dev | pod | /volumes | has {"path":"/dev","type":"Directory"}
            devRoot=/dev | container | /volumeMounts | has "name":"dev-root","mountPath":"/dev-root","readOnly":true,"mountPropagation"
            devRoot=/host/dev | pod | /volumes | has {"path":"/host/dev","type":"DirectoryOrCreate"}
            # it waits for NVIDIA's driver itself: before it is registered, no pod of before can end
            kubeletPlugin.containers.init.resources.limits.memory=1Gi | pod | /initContainers | none
            kubeletPlugin.containers.init.resources.limits.memory=1Gi | pod | /containers/0/securityContext/privileged | true
            # without an affinity, the label counts alone
            kubeletPlugin.affinity="null" | pod | /affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms | has [{"matchExpressions":[{"key":"nvidia.com/gpu.deploy.dra-driver","operator":"NotIn","values":["false","paused-for-driver-upgrade","paused-for-mig-change"]}]}]
            # NVIDIA's chart has an empty text by default
            consumableShares="" | container | /env | lacks CONSUMABLE_SHARES
            # the driver may report the MIG devices that it makes
            dynamicMig.enabled=true | ClusterRole | | has resourceclaims/status
            featureGates.DynamicMIG=true | ClusterRole | | has resourceclaims/status
            dynamicMig.enabled=false | ClusterRole | | lacks resourceclaims/status
            """)
    void valuesBecomeParts(String values, String of, @Nullable String pointer, String expected) throws IOException {
        Manifests manifests = CHART.render(installation(values));
        JsonNode part = switch (of) {
            case "pod" -> DriverContainer.of(manifests).pod();
            case "container" -> DriverContainer.of(manifests).container();
            default -> new ObjectMapper().valueToTree(manifests.of(Kind.valueOf(of)));
        };
        JsonNode found = part.at(Objects.requireNonNullElse(pointer, ""));

        if (expected.startsWith("has ")) {
            assertThat(found.toString()).contains(expected.substring(4));
        } else if (expected.startsWith("lacks ")) {
            assertThat(found.toString()).doesNotContain(expected.substring(6));
        } else {
            assertThat(found.asText("none")).isEqualTo(found.isMissingNode() ? "none" : expected);
            assertThat(found.isMissingNode()).isEqualTo(expected.equals("none"));
        }
    }

    private static ChartInstallation installation(String values) throws IOException {
        ChartInstallation installation = ChartInstallation.DEFAULT;
        for (String value : values.split(" ")) {
            String[] parts = value.split("=", 2);
            installation = installation.set(parts[0], new YAMLMapper().readValue(parts[1], Object.class));
        }
        return installation;
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
        Map<String, String> usual =
                DriverContainer.of(CHART.render(ChartInstallation.DEFAULT)).environment();
        Map<String, String> changed = new HashMap<>(
                DriverContainer.of(CHART.render(installation(values))).environment());
        changed.entrySet().removeAll(usual.entrySet());

        assertThat(changed)
                .isEqualTo(Stream.of(variables.split(" "))
                        .map(variable -> variable.split("=", 2))
                        .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1])));
    }

    /** Helm reads the numbers of a file as floating-point ones, and writes large ones with an exponent. */
    @Test
    void largeNumbersOfAFileAreWrittenInFull(@TempDir Path folder) throws IOException {
        Path values = Files.writeString(folder.resolve("values.yaml"), "{consumableShares: 1000000}");

        assertThat(DriverContainer.of(CHART.render(ChartInstallation.DEFAULT.file(values)))
                        .environment())
                .containsEntry("CONSUMABLE_SHARES", "1000000");
    }

    @ParameterizedTest
    @CsvSource({
        "dynamicMig.destroyUnknownDevices=true, needs dynamicMig.enabled",
        "dynamicMig.enabled=true featureGates.DynamicMIG=false, contradict each other",
        "featureGates.AllAlpha=true, /featureGates/AllAlpha",
        "consumableShares=true, /consumableShares",
        "deviceClasses.create=false deviceClasses.extendedResource.enabled=true, needs deviceClasses.create",
        "resources.computeDomains.enabled=true, /resources/computeDomains/enabled",
        "kubeletPlugin.containers.gpus.env[0].name=LOG_VERBOSITY, set logVerbosity instead",
        "resources.gpus.enabled=false, /resources/gpus/enabled",
        "xidEffects.48=Never, /xidEffects/48"
    })
    void whatThisDriverDoesNotHaveIsRefused(String values, String message) {
        assertThatThrownBy(() -> CHART.render(installation(values))).hasMessageContaining(message);
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

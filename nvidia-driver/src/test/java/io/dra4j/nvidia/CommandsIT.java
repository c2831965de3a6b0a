// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands of the driver's jar, alone as the README starts it, and next to a running driver. */
class CommandsIT {

    @TempDir
    private Path folder;

    private static Ended run(TestContext context, String... words) throws Exception {
        return run(context.place().values(), words);
    }

    private static Ended run(Map<String, String> environment, String... words) throws Exception {
        List<String> command = List.of(Ended.jdk("java"), "-jar", "target/dra4j-nvidia-driver.jar");
        return Ended.of(environment, command, words);
    }

    @Test
    void theJarProbesTheGpusOfTheNode() throws Exception {
        StandInNode node = StandInNode.install(folder, "t4");

        assertThat(run(Map.of(), "probe", "--nvidia-driver-root=" + node.root(), "--sysfs-root=" + node.sysfs())
                        .printed())
                .contains("Tesla T4")
                .doesNotContain("WARNING");
    }

    /** The devices without what differs between machines. */
    private static Map<String, JsonNode> withoutMachine(List<JsonNode> devices) {
        Map<String, JsonNode> byName = new TreeMap<>();
        for (JsonNode device : devices) {
            ObjectNode copy = device.deepCopy();
            copy.withObject("/attributes")
                    .remove(List.of(
                            "uuid",
                            "parentUUID",
                            "addressingMode", // of kernel and driver
                            "resource.kubernetes.io/pciBusID",
                            "resource.kubernetes.io/pcieRoot",
                            "resource.kubernetes.io/numaNode"));
            byName.put(device.path("name").asText(), copy);
        }
        return byName;
    }

    @Test
    @Tag("nightly")
    void theTemplateHasTheDevicesThatTheDriverPublishes() throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
        try (TestContext context = DriverJar.context(DriverJar.command(folder), node, "template", "--dynamic-mig")) {
            List<JsonNode> published =
                    context.devices().all().stream().map(PublishedDevice::json).toList();

            Ended ended = run(context, "template", "--board=h100-80", "--count=8", "--dynamic-mig");

            assertThat(ended.status()).as(ended.output()).isZero();
            List<JsonNode> template = new ArrayList<>();
            try (MappingIterator<JsonNode> slices =
                    new YAMLMapper().readerFor(JsonNode.class).readValues(ended.output())) {
                slices.forEachRemaining(slice -> slice.at("/spec/devices").forEach(template::add));
            }
            assertThat(withoutMachine(template)).hasSizeGreaterThan(200).isEqualTo(withoutMachine(published));
        }
    }

    @Test
    @Tag("gate")
    void inMaintenanceTheDriverHasNoSessionOfNvml() throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "l40s");
        try (TestContext context =
                DriverJar.context(DriverJar.command(folder), node, "maintenance", "--health-watch=always")) {
            long pid = context.driver().current().pid().orElseThrow();
            KubeletClaim claim = context.claims().allocate(context.devices().one());
            context.calls().prepared(claim);

            Ended held = run(context, "maintenance", "on", "--timeout=0");

            assertThat(held.status()).isEqualTo(1);
            assertThat(held.output()).contains("1 claim holds such devices:", claim.name());
            assertThat(node.administrator().reset(0)).isNotZero();
            context.calls().unprepared(claim);

            Ended free = run(context, "maintenance", "on");

            assertThat(free.status()).as(free.output()).isZero();
            assertThat(node.hasSession(pid)).isFalse();
            assertThat(node.administrator().reset(0)).isZero();
            assertThat(run(context, "maintenance", "off").status()).isZero();
        }
    }
}

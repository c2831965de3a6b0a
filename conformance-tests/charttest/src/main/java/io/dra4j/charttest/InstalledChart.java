// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.JavaProgram;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * A node of a cluster to which rendered objects were applied: the driver is a process with the
 * arguments and the environment of the DaemonSet, and with the rights of its ServiceAccount.
 */
public final class InstalledChart implements AutoCloseable {

    /** Variables of paths and names that each node of a test has. */
    private static final Set<String> OF_THE_NODE =
            Set.of("NODE_NAME", "CDI_ROOT", "KUBELET_PLUGINS_DIRECTORY_PATH", "KUBELET_REGISTRAR_DIRECTORY_PATH");

    private final TestNode node;
    private final ServiceAccountAccess access;

    /** The same with the program that a class of this class path starts. */
    public InstalledChart(String driver, Manifests manifests, Path folder, Class<?> main) {
        this(
                driver,
                manifests,
                folder,
                new JavaProgram(folder, List.of(), JavaProgram.ownClassPath(), main.getName()).command(),
                Map.of());
    }

    /**
     * Applies the objects to a new API server; the driver does not run yet.
     *
     * @param driver the driver's name
     * @param folder for files
     * @param program the program in place of the image's
     * @param changes variables that override those of the DaemonSet, for paths of the test's node
     */
    public InstalledChart(
            String driver, Manifests manifests, Path folder, List<String> program, Map<String, String> changes) {
        DriverContainer container = DriverContainer.of(manifests);
        List<String> command = new ArrayList<>(program);
        command.addAll(container.arguments());
        Map<String, String> environment = new HashMap<>(container.environment());
        environment.keySet().removeAll(OF_THE_NODE);
        environment.put("POD_UID", UUID.randomUUID().toString());
        environment.put("HTTP_ENDPOINT", "127.0.0.1:0");
        environment.put("HEALTHCHECK_PORT", "0");
        environment.putAll(changes);
        node = new TestNode(
                driver, new ProcessDriver(command, environment, TestNode.TIMEOUT), EmbeddedApiServer.builder());
        access = new ServiceAccountAccess(
                manifests.serviceAccount(),
                List.of(manifests.write(folder.resolve("installed.yaml")).toString()),
                driver,
                "1." + node.api().version().minor());
        node.proxy().allowOnly(access, TestNode.NAME);
        manifests.of(Kind.DeviceClass).forEach(one -> node.api().store().putStrictly(one));
    }

    /** Starts the driver, and waits until the kubelet has registered it. */
    public void start() throws InterruptedException {
        node.start();
        node.awaitRegistered();
    }

    /** The node. */
    public TestNode node() {
        return node;
    }

    /** Returns the names of the published devices that a DeviceClass selects. */
    public List<String> devicesOf(String deviceClass) {
        JsonNode object =
                node.api().store().find("deviceclasses", "", deviceClass).orElseThrow();
        List<DeviceSelector> selectors = object.at("/spec/selectors")
                .valueStream()
                .map(one -> DeviceSelector.compile(one.at("/cel/expression").asText()))
                .toList();
        List<String> names = new ArrayList<>();
        for (JsonNode slice : node.api().store().list("resourceslices")) {
            String driver = slice.at("/spec/driver").asText();
            slice.at("/spec/devices")
                    .valueStream()
                    .filter(device -> selectors.stream().allMatch(it -> it.matches(driver, device)))
                    .forEach(device -> names.add(device.path("name").asText()));
        }
        return names;
    }

    /** Asserts that the API server has refused no request of the driver. */
    public void assertNothingRefused() {
        assertThat(access.notes()).singleElement().asString().startsWith("RBAC: the API server refused no request");
    }

    @Override
    public void close() {
        node.close();
    }
}

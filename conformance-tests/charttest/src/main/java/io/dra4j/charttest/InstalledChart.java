// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.JavaProgram;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A node of a cluster to which rendered objects were applied: the driver is a process with the
 * arguments and the environment of the DaemonSet, and with the rights of its ServiceAccount.
 */
public final class InstalledChart implements AutoCloseable {

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
        this(driver, manifests, folder, driver(DriverContainer.of(manifests), program, changes));
    }

    private static DriverAdapter driver(DriverContainer container, List<String> program, Map<String, String> changes) {
        List<String> command = new ArrayList<>(program);
        command.addAll(container.arguments());
        Map<String, String> environment = container.onTestNode();
        environment.put("POD_UID", DriverContainer.POD_UID);
        environment.put("HTTP_ENDPOINT", "127.0.0.1:0");
        environment.put("HEALTHCHECK_PORT", "0");
        environment.putAll(changes);
        return new ProcessDriver(command, environment, TestNode.TIMEOUT);
    }

    /** The same with a driver that an adapter starts. */
    public InstalledChart(String driver, Manifests manifests, Path folder, DriverAdapter adapter) {
        node = new TestNode(driver, adapter, EmbeddedApiServer.builder());
        access = manifests.access(
                Kind.DaemonSet, driver, "1." + node.api().version().minor(), folder);
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

    /** Returns the rights that the API server refused, as {@link Right} names them. */
    public List<String> refused() {
        return Right.refused(node.proxy());
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

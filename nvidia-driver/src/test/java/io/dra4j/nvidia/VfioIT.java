// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.MountNamespace;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** GPUs for virtual machines, by the driver as a program that is killed and restarted. */
@Tag("gate")
class VfioIT {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String GATE = "--feature-gates=PassthroughSupport=true,DeviceMetadata=true";
    private static final Pattern HOST_PATH = Pattern.compile("\"hostPath\":\"([^\"]+metadata.json)");

    /** Each step of a prepare, and of an unprepare; a driver dies when the kernel has done it. */
    private static final List<String> STEPS = List.of("override vfio-pci", "unbind nvidia", "bind vfio-pci");

    private static final List<String> STEPS_BACK = List.of("override", "unbind vfio-pci", "bind nvidia");

    @TempDir
    private Path folder;

    private StandInNode node;
    private PciStandIn kernel;
    private SmiStandIn smi;
    private TestContext context;

    private void install() throws Exception {
        node = StandInNode.install(folder.resolve("node"), "l40s");
        smi = SmiStandIn.install(node);
        kernel = PciStandIn.install(node);
        kernel.watch(() -> context == null ? 0 : pid());
    }

    private void start() throws Exception {
        context = DriverJar.context(DriverJar.command(folder), node, "vfio", GATE);
    }

    private long pid() {
        return context.driver().current().pid().orElse(0);
    }

    @AfterEach
    void stop() throws Exception {
        if (context != null) {
            context.close();
        }
        if (kernel != null) {
            kernel.close();
        }
    }

    private Set<String> names() {
        return context.devices().all().stream().map(PublishedDevice::name).collect(Collectors.toSet());
    }

    private PublishedDevice device(String name) {
        return context.devices().all().stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private KubeletClaim claim(String device) {
        return context.claims().allocate(device(device));
    }

    private String driver(int gpu) {
        return kernel.driverOf(kernel.gpus().get(gpu));
    }

    private void assertIsBack(int gpu) {
        assertThat(driver(gpu)).isEqualTo(PciStandIn.NVIDIA);
        assertThat(kernel.overrideOf(kernel.gpus().get(gpu))).isEmpty();
    }

    private List<String> edits(ClaimResult answer) {
        return context.cdi().edits(answer.devices());
    }

    @Test
    void inAMountNamespaceGpusAreLentOverRestartsAndThoseOfAnAdministratorStay() throws Exception {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), "no mount namespace: " + missing);
        install();
        smi.setPersistent(kernel.gpus().get(0));
        kernel.bindByHand(kernel.gpus().get(3), PciStandIn.VFIO);

        context = DriverJar.contextInNamespace(DriverJar.command(folder), node, "vfio", GATE);

        assertThat(names())
                .containsExactlyInAnyOrder(
                        "gpu-0", "gpu-1", "gpu-2", "gpu-vfio-0", "gpu-vfio-1", "gpu-vfio-2", "gpu-vfio-3");
        KubeletClaim lent = claim("gpu-vfio-0");
        KubeletClaim bound = claim("gpu-vfio-3");
        ClaimResult answer = context.calls().prepared(lent);
        assertIsOfMachine(answer, "/dev/vfio/11", 0);
        assertIsOfMachine(context.calls().prepared(bound), "/dev/vfio/14", 3);
        int writes = context.proxy().lastNumber();

        context.driver().restartAfterKill();

        assertThat(names()).hasSize(7);
        assertThat(context.calls().prepared(lent).devices()).isEqualTo(answer.devices());
        assertThat(context.proxy().log(one -> one.number() > writes))
                .doesNotContain("POST /apis/resource.k8s.io/v1/resourceslices");
        assertThat(driver(0)).isEqualTo(PciStandIn.VFIO);
        context.calls().unprepared(lent, bound);
        assertIsBack(0);
        assertThat(smi.isPersistent(kernel.gpus().get(0))).isTrue();
        assertThat(driver(3)).isEqualTo(PciStandIn.VFIO);
        assertThat(kernel.done()).noneMatch(done -> done.endsWith(kernel.gpus().get(3)));
        context.calls().prepared(claim("gpu-0"));
    }

    private void assertIsOfMachine(ClaimResult answer, String path, int gpu) throws Exception {
        List<String> edits = edits(answer);
        assertThat(edits)
                .anyMatch(edit -> edit.startsWith("deviceNodes ") && edit.contains(path))
                .contains("env NVIDIA_VISIBLE_DEVICES=void")
                .noneMatch(edit -> edit.contains("/dev/nvidia") || edit.contains("libcuda"));
        Matcher file = edits.stream()
                .map(HOST_PATH::matcher)
                .filter(Matcher::find)
                .findFirst()
                .orElseThrow();
        assertThat(new ObjectMapper()
                        .readTree(Files.readString(Path.of(file.group(1))))
                        .at("/requests/0/devices/0/attributes")
                        .path("resource.kubernetes.io/pciBusID")
                        .path("string")
                        .asText())
                .isEqualTo(kernel.gpus().get(gpu));
        assertThat(driver(gpu)).isEqualTo(PciStandIn.VFIO);
    }

    /** At each step in a full build, and at one of each direction otherwise. */
    @Test
    void aKillIsUndone() throws Exception {
        boolean isFull = Boolean.getBoolean("dra4j.full");
        install();
        start();
        for (String step : isFull ? STEPS : List.of("unbind nvidia")) {
            KubeletClaim claim = claim("gpu-vfio-0");
            crash(step, () -> context.calls().prepare(claim));
            context.calls().unprepared(claim);
            assertIsBack(0);
        }
        for (String step : isFull ? STEPS_BACK : List.of("unbind vfio-pci")) {
            KubeletClaim claim = claim("gpu-vfio-0");
            context.calls().prepared(claim);
            crash(step, () -> context.calls().unprepare(claim));
            context.calls().unprepared(claim);
            assertIsBack(0);
        }
        context.calls().prepared(claim("gpu-vfio-0"));
        assertThat(names()).hasSize(8);
    }

    private void crash(String step, Runnable call) throws Exception {
        kernel.killAt(step);
        call.run();
        assertThat(context.driver().awaitExit(context.driver().current(), SOON))
                .as("killed at " + step)
                .isPresent();
        context.driver().restarted();
    }
}

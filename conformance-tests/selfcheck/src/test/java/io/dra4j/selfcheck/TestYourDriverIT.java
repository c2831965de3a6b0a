// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.conformance.DraConformance;
import io.dra4j.example.FakeGpuProvider;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.HeldClaims;
import io.dra4j.test.RecordingClaimContext;
import io.dra4j.test.RecordingDriverContext;
import io.dra4j.test.RunningDriver;
import io.dra4j.test.RunningPod;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The tests of docs-site/how-to/test-your-driver.md, which quotes the regions. */
class TestYourDriverIT {

    // #region unit
    private final DeviceProvider provider = new FakeGpuProvider("gpu.example.com", "node-a", 2);

    @Test
    void theInventoryCanBePublished() throws Exception {
        assertThat(SlicePreview.problems(provider.inventory())).isEmpty();
    }

    @Test
    void aContainerIsToldItsGpu() throws Exception {
        provider.start(new RecordingDriverContext("gpu.example.com", "node-a"));
        AllocatedClaim claim =
                AllocatedClaims.of("gpu.example.com", provider).device("gpu-1").build();

        PreparedClaim prepared = provider.prepare(claim, new RecordingClaimContext());

        assertThat(prepared.devices().get(0).edits().env()).containsEntry("GPU_DEVICE_1", "gpu-1");
    }

    // #endregion unit

    // #region config
    @Test
    void aWrongConfigurationIsExplainedToTheOwnerOfThePod() throws Exception {
        AllocatedClaims claim =
                AllocatedClaims.of("gpu.example.com", provider).device("gpu-0").config("""
                                apiVersion: gpu.resource.example.com/v1alpha1
                                kind: GpuConfig
                                sharing: {strategy: Sometimes}
                                """);

        assertThatThrownBy(claim::build).hasMessageContaining("Sometimes");
    }

    // #endregion config

    // #region unprepare
    @Test
    void anInterruptedPrepareIsUndone() throws Exception {
        AllocatedClaim claim =
                AllocatedClaims.of("gpu.example.com", provider).device("gpu-0").build();
        RecordingClaimContext context = new RecordingClaimContext();
        provider.prepare(claim, context);

        HeldClaim held = HeldClaims.interrupted(claim, context);
        provider.unprepare(held, new RecordingClaimContext());
    }

    // #endregion unprepare

    // #region running
    @RegisterExtension
    static final RunningDriver<FakeGpuProvider> DRIVER =
            RunningDriver.of("gpu.example.com", node -> new FakeGpuProvider("gpu.example.com", node, 2));

    @Test
    void aContainerGetsItsGpu() throws Exception {
        KubeletClaim claim = DRIVER.allocate("gpu-0");

        DRIVER.prepare(claim).hasEnv("GPU_DEVICE_0", "gpu-0");
        DRIVER.restart();
        DRIVER.prepare(claim).hasEnv("GPU_DEVICE_0", "gpu-0");
        DRIVER.unprepare(claim);
    }

    // #endregion running

    // #region instances
    @Nested
    class DuringARollingUpdate {

        @RegisterExtension
        final RunningDriver<FakeGpuProvider> old =
                RunningDriver.of("gpu.example.com", node -> new FakeGpuProvider("gpu.example.com", node, 2));

        @Test
        void theSecondInstanceKnowsTheClaimsOfTheFirst() throws Exception {
            RunningDriver<FakeGpuProvider> second = old.startSecond();
            KubeletClaim one = old.allocate("gpu-0");
            KubeletClaim two = second.allocate("gpu-1");

            old.prepare(one).hasEnv("GPU_DEVICE_0", "gpu-0");
            second.prepare(two).hasEnv("GPU_DEVICE_1", "gpu-1");
            old.stop();
            second.prepare(one).hasEnv("GPU_DEVICE_0", "gpu-0");
            second.delete(one);
        }
    }

    // #endregion instances

    // #region pods
    @Test
    void aPodGetsAGpu() {
        DRIVER.apply("""
                apiVersion: resource.k8s.io/v1
                kind: DeviceClass
                metadata: {name: gpu.example.com}
                spec: {selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}]}
                ---
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaimTemplate
                metadata: {name: one-gpu}
                spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: training}
                spec:
                  resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
                  containers:
                  - {name: main, image: ubuntu, resources: {claims: [{name: gpu}]}}
                """);

        RunningPod pod = DRIVER.awaitRunning("training");
        assertThat(pod.devices()).hasSize(1);
        pod.container("main").hasEnv("DRA_RESOURCE_DRIVER_NAME", "gpu.example.com");
        pod.delete();
    }

    // #endregion pods

    /** Compiled alone: DraConformanceIT runs its like. */
    static final class Conformance {
        // #region conformance
        @TestFactory
        Stream<DynamicNode> conformance() {
            return DraConformance.of("gpu.example.com", place -> new FakeGpuProvider(place.driver(), place.node(), 2))
                    .tests();
        }
        // #endregion conformance
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class FakeGpuProviderTest {

    private final FakeGpuProvider provider = new FakeGpuProvider("gpu.example.com", "node-a", 2);

    @Nested
    class TheInventory {

        @Test
        void isOnePoolNamedAfterTheNode() {
            Pool pool = provider.inventory().pools().get(0);

            assertThat(provider.inventory().pools()).hasSize(1);
            assertThat(pool.name()).hasToString("node-a");
            assertThat(pool.devices())
                    .extracting(device -> device.name().value())
                    .containsExactly("gpu-0", "gpu-1");
        }

        @Test
        void describesAGpu() {
            Device gpu = provider.inventory().pools().get(0).devices().get(1);

            assertThat(gpu.attributes())
                    .containsEntry("index", AttributeValue.of(1))
                    .containsEntry("model", AttributeValue.of("LATEST-GPU-MODEL"))
                    .containsEntry("driverVersion", AttributeValue.version("1.0.0"))
                    .containsOnlyKeys(
                            "index",
                            "uuid",
                            "model",
                            "driverVersion",
                            "resource.kubernetes.io/pcieRoot",
                            "resource.kubernetes.io/pciBusID");
            assertThat(gpu.capacities())
                    .containsOnly(entry("memory", Capacity.of("80Gi")), entry("compute", Capacity.of("100")));
        }

        @Test
        void givesAGpuItsUuidForever() {
            assertThat(uuid(provider, 1))
                    .isEqualTo(uuid(new FakeGpuProvider("other.example.com", "node-a", 8), 1))
                    .isNotEqualTo(uuid(provider, 0))
                    .isNotEqualTo(uuid(new FakeGpuProvider("gpu.example.com", "node-b", 2), 1));
        }

        private AttributeValue uuid(FakeGpuProvider of, int index) {
            return of.inventory()
                    .pools()
                    .get(0)
                    .devices()
                    .get(index)
                    .attributes()
                    .get("uuid");
        }
    }

    @Nested
    class APreparedClaim {

        @Test
        void showsTheContainersEachGpuWithItsClaimAndSharing() throws Exception {
            PreparedClaim prepared = prepare(claim().device("gpu-1"));

            assertThat(prepared.edits().env())
                    .containsExactly(
                            entry("KUBERNETES_NODE_NAME", "node-a"),
                            entry("DRA_RESOURCE_DRIVER_NAME", "gpu.example.com"));
            assertThat(prepared.devices().get(0).edits().env())
                    .containsExactly(
                            entry("GPU_DEVICE_1", "gpu-1"),
                            entry("GPU_DEVICE_1_RESOURCE_CLAIM", "uid"),
                            entry("GPU_DEVICE_GPU_1_RESOURCE_CLAIM", "uid"),
                            entry("GPU_DEVICE_1_SHARING_STRATEGY", "TimeSlicing"),
                            entry("GPU_DEVICE_1_TIMESLICE_INTERVAL", "Default"));
        }

        @Test
        void showsThePartitionCount() throws Exception {
            AllocatedClaims claim = claim().device("gpu-0").config("""
                                    apiVersion: gpu.resource.example.com/v1alpha1
                                    kind: GpuConfig
                                    sharing:
                                      strategy: SpacePartitioning
                                      spacePartitioningConfig: {partitionCount: 10}
                                    """);

            assertThat(prepare(claim).devices().get(0).edits().env())
                    .containsEntry("GPU_DEVICE_0_SHARING_STRATEGY", "SpacePartitioning")
                    .containsEntry("GPU_DEVICE_0_PARTITION_COUNT", "10")
                    .doesNotContainKey("GPU_DEVICE_0_TIMESLICE_INTERVAL");
        }

        @Test
        void showsAdminAccessWithTheDeviceThatHasIt() throws Exception {
            PreparedClaim prepared = prepare(claim().adminAccess("gpu-0").device("gpu-1"));

            assertThat(prepared.devices().get(0).edits().env()).containsEntry("DRA_ADMIN_ACCESS", "true");
            assertThat(prepared.devices().get(1).edits().env()).doesNotContainKey("DRA_ADMIN_ACCESS");
        }

        @Test
        void isTheSameEachTime() throws Exception {
            AllocatedClaims claim = claim().device("gpu-1");

            assertThat(prepare(claim)).isEqualTo(prepare(claim));
        }

        private AllocatedClaims claim() throws Exception {
            return AllocatedClaims.of("gpu.example.com", provider);
        }

        private PreparedClaim prepare(AllocatedClaims claim) throws Exception {
            return provider.prepare(claim.build(), new RecordingClaimContext());
        }
    }
}

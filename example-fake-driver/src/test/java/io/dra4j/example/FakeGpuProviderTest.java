// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.ReadinessCheck.PendingDevice;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.example.FakeGpuConfig.Sharing;
import io.dra4j.example.FakeGpuConfig.SpacePartitioning;
import io.dra4j.example.FakeGpuConfig.TimeSlicing;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The fake GPUs: whole, in partitions, in shares, reported about, and configured. */
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

    @Nested
    class Partitions {

        private static Pool pool(int gpus, int partitions) throws Exception {
            FakeGpuProvider whole = new FakeGpuProvider("gpu.example.com", "node-a", gpus);
            return new PartitionedGpus(whole, partitions).inventory().pools().get(0);
        }

        private static Map<String, Quantity> amounts(String memory, String compute) {
            return Map.of("memory", new Quantity(memory), "compute", new Quantity(compute));
        }

        @Test
        void areEachGpusPartitionsAndTheFullGpu() throws Exception {
            assertThat(pool(2, 2).devices())
                    .extracting(device -> device.name().value())
                    .containsExactly(
                            "gpu-0-partition-0",
                            "gpu-0-partition-1",
                            "gpu-0-full",
                            "gpu-1-partition-0",
                            "gpu-1-partition-1",
                            "gpu-1-full");
        }

        @Test
        void shareTheCountersOfTheirGpu() throws Exception {
            Pool pool = pool(2, 4);

            assertThat(pool.counterSets())
                    .containsExactly(
                            CounterSet.of("gpu-0-counters", amounts("80Gi", "100")),
                            CounterSet.of("gpu-1-counters", amounts("80Gi", "100")));
            assertThat(pool.devices().get(5).consumesCounters()).singleElement().satisfies(part -> {
                assertThat(part.counterSet()).isEqualTo("gpu-1-counters");
                assertThat(part.counters()).isEqualTo(amounts("20Gi", "25"));
            });
            assertThat(pool.devices().get(9).consumesCounters().get(0).counters())
                    .as("of gpu-1-full")
                    .isEqualTo(amounts("80Gi", "100"));
        }

        @Test
        void haveTheirPartitionNumber() throws Exception {
            Device partition = pool(1, 2).devices().get(1);
            Device full = pool(1, 2).devices().get(2);

            assertThat(partition.attributes())
                    .containsEntry("partition", AttributeValue.of(1))
                    .containsEntry("partitionable", AttributeValue.of(true))
                    .containsKeys("index", "uuid", "model", "driverVersion")
                    .doesNotContainKey("full");
            assertThat(full.attributes())
                    .containsEntry("full", AttributeValue.of(true))
                    .containsEntry("partitionable", AttributeValue.of(true))
                    .doesNotContainKey("partition");
        }

        @ParameterizedTest
        @CsvSource({"1,80Gi,100", "3,26Gi,33", "7,11Gi,14", "80,1Gi,1"})
        void haveWholeUnitsOfEachCapacity(int partitions, String memory, String compute) throws Exception {
            Device part = pool(1, partitions).devices().get(0);

            assertThat(part.capacities().get("memory").value()).hasToString(memory);
            assertThat(part.capacities().get("compute").value()).hasToString(compute);
        }

        @Test
        void areNamedToContainersAsTheyAreCalled() {
            assertThat(Map.of(
                            "part", variable("gpu-0-partition-1"),
                            "full", variable("gpu-0-full"),
                            "whole", variable("gpu-12")))
                    .containsOnly(
                            entry("part", "GPU_DEVICE_0_PARTITION_1"),
                            entry("full", "GPU_DEVICE_0_FULL"),
                            entry("whole", "GPU_DEVICE_12"));
        }

        private static String variable(String device) {
            return FakeGpuProvider.variable(new DeviceName(device));
        }
    }

    @Nested
    class Shares {

        private static final String SHARE = "11111111-2222-4333-8444-555555555555";

        private final DeviceProvider whole = new FakeGpuProvider("gpu.example.com", "node-a", 1);

        @Test
        void takeSeveralClaimsOfWholeUnits() throws Exception {
            Device gpu = first(new SharedGpus(whole));

            assertThat(gpu.allowMultipleAllocations()).isTrue();
            assertThat(range(gpu, "memory")).isEqualTo(range("1Gi", "80Gi"));
            assertThat(range(gpu, "compute")).isEqualTo(range("1", "100"));
        }

        @Test
        void areTakenAsAWholeByAClaimThatAsksForNoAmount() throws Exception {
            assertThat(first(new SharedGpus(whole)).capacities().values())
                    .hasSize(2)
                    .allSatisfy(capacity ->
                            assertThat(capacity.requestPolicy().defaultValue()).isEqualTo(capacity.value()));
        }

        @Test
        void mayBePartitionsOfAnySize() throws Exception {
            for (int partitions = 1; partitions <= PartitionedGpus.MOST_PARTITIONS; partitions++) {
                Device part = first(new SharedGpus(new PartitionedGpus(whole, partitions)));

                assertThat(part.consumesCounters()).hasSize(1);
                assertThat(part.capacities().values())
                        .as(partitions + " partitions")
                        .allSatisfy(Shares::aWholeNumberOfSteps);
            }
        }

        private static void aWholeNumberOfSteps(Capacity capacity) {
            ValidRange range = capacity.requestPolicy().validRange();
            assertThat(range.min()).isLessThanOrEqualTo(range.max());
            assertThat(capacity.value().amount().remainder(range.step().amount()))
                    .isZero();
        }

        @Test
        void setTheirAmounts() throws Exception {
            Map<String, Quantity> share = Map.of("memory", new Quantity("10Gi"), "compute", new Quantity("5"));

            assertThat(environment(share))
                    .contains(
                            entry("GPU_DEVICE_0", "gpu-0"),
                            entry("GPU_DEVICE_0_MEMORY", "10Gi"),
                            entry("GPU_DEVICE_0_COMPUTE", "5"));
            assertThat(environment(Map.of()))
                    .containsEntry("GPU_DEVICE_0", "gpu-0")
                    .doesNotContainKeys("GPU_DEVICE_0_MEMORY", "GPU_DEVICE_0_COMPUTE");
        }

        private Map<String, String> environment(Map<String, Quantity> share) throws Exception {
            DeviceProvider shared = new SharedGpus(whole);
            AllocatedClaim claim = AllocatedClaims.of("gpu.example.com", shared)
                    .share("gpu-0", SHARE, share)
                    .build();
            PreparedClaim prepared = shared.prepare(claim, new RecordingClaimContext());
            return prepared.devices().get(0).edits().env();
        }

        private static Device first(DeviceProvider gpus) throws Exception {
            return gpus.inventory().pools().get(0).devices().get(0);
        }

        private static ValidRange range(Device gpu, String capacity) {
            return gpu.capacities().get(capacity).requestPolicy().validRange();
        }

        private static ValidRange range(String minAndStep, String max) {
            return new ValidRange(new Quantity(minAndStep), new Quantity(max), new Quantity(minAndStep));
        }
    }

    @Nested
    class Reports {

        private static final FakeGpuProvider GPUS = new FakeGpuProvider("gpu.example.com", "node-a", 1);

        /** The GPUs of the time when the claim was allocated. */
        private static final FakeGpuProvider BEFORE = new FakeGpuProvider("gpu.example.com", "node-a", 8);

        private static PreparedDevice prepared(boolean status, boolean metadata, String gpu) throws Exception {
            DeviceProvider gpus = new ReportingGpus(GPUS, status, metadata);
            AllocatedClaim claim =
                    AllocatedClaims.of("gpu.example.com", BEFORE).device(gpu).build();
            return gpus.prepare(claim, new RecordingClaimContext()).devices().get(0);
        }

        @Test
        void theStatusHasTheGpu() throws Exception {
            PreparedDevice gpu = prepared(true, false, "gpu-0");

            assertThat(gpu.status().data())
                    .matches(
                            "\\{\"uuid\":\"gpu-[-0-9a-f]{36}\",\"model\":\"LATEST-GPU-MODEL\",\"driverVersion\":\"1.0.0\"}");
            assertThat(gpu.status().conditions()).hasSize(1);
            assertThat(gpu.metadata()).isNull();
        }

        @Test
        void theMetadataHasAllAttributes() throws Exception {
            PreparedDevice gpu = prepared(false, true, "gpu-0");

            assertThat(gpu.metadata().attributes())
                    .containsOnlyKeys(
                            "index",
                            "uuid",
                            "model",
                            "driverVersion",
                            "resource.kubernetes.io/pcieRoot",
                            "resource.kubernetes.io/pciBusID");
            assertThat(gpu.status()).isNull();
        }

        @Test
        void anUnpluggedGpuIsNotReported() throws Exception {
            PreparedDevice gpu = prepared(true, true, "gpu-7");

            assertThat(gpu.status().data()).isNull();
            assertThat(gpu.metadata().attributes()).isEmpty();
        }

        @Test
        void gpusThatAreWaitedForAreReadyAtOnce() throws Exception {
            BindingConditions binding = new BoundDevices(GPUS)
                    .inventory()
                    .pools()
                    .get(0)
                    .devices()
                    .get(0)
                    .binding();

            assertThat(binding.conditions()).containsExactly("BindingConditions");
            assertThat(binding.failureConditions()).containsExactly("BindingFailureConditions");
            assertThat(BoundDevices.ready(new PendingDevice(
                            new ClaimRef("default", "claim", "uid"),
                            "r",
                            new PoolName("node-a"),
                            new DeviceName("gpu-0"),
                            null,
                            binding)))
                    .singleElement()
                    .matches(c -> c.type().equals("BindingConditions") && c.status() == ConditionStatus.TRUE);
        }
    }

    @Nested
    class Configuration {

        private static final FakeGpuConfig DEFAULT = config("TimeSlicing", new TimeSlicing("Default"), null);

        private static FakeGpuConfig config(
                @Nullable String strategy, @Nullable TimeSlicing slicing, @Nullable SpacePartitioning partitioning) {
            return new FakeGpuConfig(new Sharing(strategy, slicing, partitioning));
        }

        private static FakeGpuConfig normalized(FakeGpuConfig config) {
            return FakeGpuConfig.TYPE.normalize().apply(config);
        }

        private static List<String> problems(FakeGpuConfig config) {
            return FakeGpuConfig.TYPE.validate().apply(normalized(config));
        }

        @Nested
        class Normalization {

            @Test
            void isTimeSlicingByDefault() {
                assertThat(FakeGpuConfig.TYPE.defaults().get()).isEqualTo(DEFAULT);
                assertThat(normalized(new FakeGpuConfig(null))).isEqualTo(DEFAULT);
            }

            @Test
            void takesTheDefaultIntervalForTimeSlicing() {
                assertThat(normalized(config("TimeSlicing", null, null))).isEqualTo(DEFAULT);
                assertThat(normalized(config("TimeSlicing", new TimeSlicing(null), null)))
                        .isEqualTo(DEFAULT);
            }

            @Test
            void takesOnePartForSpacePartitioning() {
                FakeGpuConfig one = config("SpacePartitioning", null, new SpacePartitioning(1));

                assertThat(normalized(config("SpacePartitioning", null, null))).isEqualTo(one);
                assertThat(normalized(config("SpacePartitioning", null, new SpacePartitioning(null))))
                        .isEqualTo(one);
            }

            @Test
            void keepsWhatWasGiven() {
                FakeGpuConfig given = config("SpacePartitioning", null, new SpacePartitioning(10));

                assertThat(normalized(given)).isEqualTo(given);
            }
        }

        @Nested
        class Validation {

            @Test
            void acceptsEachStrategyWithItsSettings() {
                for (String interval : List.of("Default", "Short", "Medium", "Long")) {
                    assertThat(problems(config("TimeSlicing", new TimeSlicing(interval), null)))
                            .isEmpty();
                }
                assertThat(problems(config("SpacePartitioning", null, new SpacePartitioning(0))))
                        .isEmpty();
            }

            @ParameterizedTest
            @CsvSource({
                ",,, no sharing strategy set",
                "Luck,,, unknown GPU sharing strategy: Luck",
                "TimeSlicing,Forever,, unknown time-slice interval: Forever",
                "SpacePartitioning,,-1, invalid partition count: -1",
                "TimeSlicing,,2, spacePartitioningConfig needs the strategy SpacePartitioning",
                "SpacePartitioning,Long,, timeSlicingConfig needs the strategy TimeSlicing",
            })
            void namesWhatIsInvalid(String strategy, String interval, Integer count, String problem) {
                TimeSlicing slicing = interval == null ? null : new TimeSlicing(interval);
                SpacePartitioning parts = count == null ? null : new SpacePartitioning(count);

                assertThat(problems(config(strategy, slicing, parts))).containsExactly(problem);
            }
        }
    }
}

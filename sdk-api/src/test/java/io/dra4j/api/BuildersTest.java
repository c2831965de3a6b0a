// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceReadings;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Types with builders are values: a copy has everything that the original has. */
class BuildersTest {

    private static final Map<Class<?>, Object> NOTHING =
            Map.of(Map.class, Map.of(), Set.class, Set.of(), List.class, List.of());
    private static final HeldDevice HELD = HeldDevice.builder("r", new PoolName("node-a"), new DeviceName("gpu-0"))
            .physicalId("serial-1")
            .subrequest("s")
            .shareId("id")
            .consumedCapacity("memory", Quantity.of(1))
            .adminAccess(true)
            .build();
    private static final ContainerEdits EDITS = ContainerEdits.builder()
            .env("A", "1")
            .deviceNode(node())
            .mount(Mount.readOnly("/a", "/b"))
            .hook(new Hook(HookName.POSTSTOP, "/bin/x", List.of(), List.of(), null))
            .netDevice(new NetDevice("eth1", "net1"))
            .additionalGid(7)
            .intelRdt(new IntelRdt("gold", null, null, List.of(), false))
            .build();
    private static final AllocatedDevice ALLOCATED = AllocatedDevice.builder(HELD)
            .deviceClass("gpu")
            .config(new AppliedConfig<>("x", ConfigSource.DEFAULT, -1, List.of()))
            .build();
    private static final DeviceStatus STATUS = DeviceStatus.builder()
            .condition(new Condition("Ready", ConditionStatus.TRUE, "Done", ""))
            .data("{}")
            .networkData(new NetworkData("net1", List.of(), null))
            .build();

    private static final CounterConsumption CONSUMPTION = CounterConsumption.builder("set")
            .counter("slices", 7)
            .compatibilityGroup("a")
            .rawFields("slices", "{}")
            .build();
    private static final NodeAllocatableResource ALLOCATABLE = NodeAllocatableResource.builder()
            .mapping(new NodeAllocatableResource.OfDevice(Quantity.of(1)))
            .overhead(new NodeAllocatableResource.Overhead(Quantity.of(2), null))
            .mayBeLeftOut(true)
            .build();

    private static DeviceNode node() {
        return DeviceNode.builder("/dev/a")
                .hostPath("/dev/b")
                .type("c")
                .major(1L)
                .minor(2L)
                .fileMode(0660)
                .permissions("rw")
                .uid(3L)
                .gid(4L)
                .build();
    }

    private static Device device() {
        return Device.builder("gpu-0")
                .physicalId("serial-1")
                .attribute("model", "x")
                .capacity("memory", "1Gi")
                .allowMultipleAllocations(true)
                .consumes(CONSUMPTION)
                .taint(Taint.of("k", null, Taint.Effect.NO_SCHEDULE))
                .placement(new Placement.AllNodes())
                .binding(new BindingConditions(List.of("a"), List.of()))
                .bindsToNode(true)
                .nodeAllocatableResource("cpu", ALLOCATABLE)
                .rawField("new", "1")
                .build();
    }

    /** A value of each type with every field set. */
    static Stream<Object> full() {
        ProviderState state = new ProviderState(1, "{}");
        PreparedDevice prepared = PreparedDevice.builder(ALLOCATED)
                .edits(EDITS)
                .cdiDeviceId("example.com/gpu=0")
                .status(STATUS)
                .metadata(new DeviceMetadata(Map.of(), null))
                .build();
        ClaimRef ref = new ClaimRef("ns", "claim", "uid");
        return Stream.of(
                node(),
                device(),
                EDITS,
                HELD,
                ALLOCATED,
                STATUS,
                prepared,
                CounterSet.builder("set")
                        .counter("slices", "7")
                        .rawFields("slices", "{}")
                        .build(),
                CONSUMPTION,
                ALLOCATABLE,
                Pool.builder("node-a")
                        .placement(new Placement.PerDevice())
                        .device(device())
                        .counterSet(CounterSet.of("set", Map.of("slices", Quantity.of(7))))
                        .partitionTypeAttribute("example.com/type")
                        .skipNodeOperation(NodeOperation.ALL)
                        .build(),
                AllocatedClaim.builder(ref)
                        .device(ALLOCATED)
                        .rawJson("{\"a\":1}")
                        .build(),
                HeldClaim.builder(ref)
                        .phase(HeldClaim.Phase.UNPREPARING)
                        .beforeReboot(true)
                        .device(HELD)
                        .state(state)
                        .build(),
                PreparedClaim.builder()
                        .device(prepared)
                        .edits(EDITS)
                        .state(state)
                        .build(),
                DeviceReadings.builder()
                        .uuid("MIG-1")
                        .parentUuid("GPU-1")
                        .value(DeviceMeasure.UTILIZATION, 0.5)
                        .parentValue(DeviceMeasure.POWER, 250)
                        .build());
    }

    @ParameterizedTest
    @MethodSource("full")
    void aCopyIsEqualAndHasAll(Object value) throws Exception {
        Object builder = value.getClass().getMethod("toBuilder").invoke(value);
        Object copy = builder.getClass().getMethod("build").invoke(builder);

        assertThat(copy).isEqualTo(value).hasSameHashCodeAs(value).hasToString(value.toString());
        assertThat(value.toString()).startsWith(value.getClass().getSimpleName() + "[");
        assertThat(value).isNotEqualTo(null).isNotEqualTo("other");
        for (Method accessor : accessors(value)) {
            Object part = accessor.invoke(value);
            assertThat(part).as(accessor.getName()).isNotNull().isNotEqualTo(false);
            assertThat(part).isEqualTo(accessor.invoke(copy));
            if (part instanceof Collection<?> many) {
                assertThat(many).as(accessor.getName()).isNotEmpty();
            }
        }
    }

    /** Some types list their parts in {@code equals}. */
    @ParameterizedTest
    @MethodSource("full")
    void anObjectThatLacksAPartIsAnother(Object value) throws Exception {
        Class<?> type = value.getClass().getMethod("toBuilder").getReturnType();
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isFinal(field.getModifiers()) && !field.getName().equals("knownTypes")) {
                Object builder = value.getClass().getMethod("toBuilder").invoke(value);
                field.setAccessible(true);
                Object part = field.get(builder);
                field.set(builder, NOTHING.getOrDefault(field.getType(), part instanceof Boolean ? false : null));

                assertThat(type.getMethod("build").invoke(builder))
                        .as(field.getName())
                        .isNotEqualTo(value);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("full")
    void aSetterThatFailsNamesThePlaceAndChangesNothing(Object value) throws Exception {
        Object builder = value.getClass().getMethod("toBuilder").invoke(value);
        for (Method setter : builder.getClass().getMethods()) {
            List<Class<?>> parameters = List.of(setter.getParameterTypes());
            boolean isMap = parameters.equals(List.of(Map.class));
            if (isMap
                    || parameters.equals(List.of(Collection.class))
                            && !setter.getName().equals("knownTypes")) {
                Object nothing = isMap ? Collections.singletonMap("x", null) : Collections.singletonList(null);

                assertThatThrownBy(() -> setter.invoke(builder, nothing))
                        .cause()
                        .message()
                        .containsPattern(isMap ? ": \\w+ x( of .*)? is null$" : ": (\\w+\\[0]|one)( of .*)? is null$");
            }
        }
        assertThat(builder.getClass().getMethod("build").invoke(builder)).isEqualTo(value);
    }

    private static List<Method> accessors(Object value) {
        return Arrays.stream(value.getClass().getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()))
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> method.getParameterCount() == 0)
                .filter(method -> !List.of("isEmpty", "toBuilder").contains(method.getName()))
                .toList();
    }
}

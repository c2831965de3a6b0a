// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FakeCpuProviderTest {

    private static final String CPU = "cpu.example.com/cpu";
    private static final String SHARE = "11111111-2222-4333-8444-555555555555";

    private final FakeCpuProvider provider = new FakeCpuProvider("cpu.example.com", "node-a", 2, 16);

    @Test
    void offersNumaNodesOfWhichClaimsTakeWholeCores() {
        List<Device> devices = provider.inventory().pools().get(0).devices();

        assertThat(devices).extracting(d -> d.name().value()).containsExactly("numa-0", "numa-1");
        Device second = devices.get(1);
        assertThat(second.allowMultipleAllocations()).isTrue();
        assertThat(second.attributes())
                .containsOnly(
                        entry("numaNodeID", AttributeValue.of(1)),
                        entry("resource.kubernetes.io/numaNode", AttributeValue.of(1)));
        Quantity one = Quantity.of(1);
        Quantity all = Quantity.of(16);
        assertThat(second.capacities()).containsOnlyKeys(CPU);
        assertThat(second.capacities().get(CPU).value()).isEqualTo(all);
        assertThat(second.capacities().get(CPU).requestPolicy())
                .isEqualTo(RequestPolicy.range(one, new ValidRange(one, all, one)));
    }

    @Test
    void mapsItsCoresToTheAllocatableCpusOfTheNode() {
        Device numaNode = provider.inventory().pools().get(0).devices().get(0);

        NodeAllocatableResource cpu = numaNode.nodeAllocatableResources().get("cpu");
        assertThat(cpu.mapping()).isEqualTo(new NodeAllocatableResource.OfCapacity(CPU, Quantity.of(1)));
        assertThat(cpu.mayBeLeftOut()).isTrue();
        assertThat(SlicePreview.problems("cpu.example.com", provider.inventory()))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {CPU, "cpu"})
    void setsTheNumberOfCores(String capacity) throws Exception {
        PreparedClaim prepared = prepare(false, capacity);

        assertThat(prepared.edits().env())
                .containsExactly(
                        entry("KUBERNETES_NODE_NAME", "node-a"), entry("DRA_RESOURCE_DRIVER_NAME", "cpu.example.com"));
        assertThat(prepared.devices().get(0).edits().env())
                .containsExactly(
                        entry("CPU_DEVICE_1", "numa-1"),
                        entry("CPU_DEVICE_1_RESOURCE_CLAIM", "uid"),
                        entry("CPU_DEVICE_1_CONSUMED_CPU", "3"));
    }

    @Test
    void showsAdminAccessToWhoHasIt() throws Exception {
        assertThat(prepare(true, CPU).devices().get(0).edits().env()).containsEntry("DRA_ADMIN_ACCESS", "true");
    }

    @Test
    void hasNothingToConfigure() {
        assertThat(provider.configTypes()).isEmpty();
    }

    private PreparedClaim prepare(boolean adminAccess, String capacity) throws Exception {
        AllocatedClaims claim = AllocatedClaims.of("cpu.example.com", provider);
        if (adminAccess) {
            claim.adminAccess("numa-1");
        } else {
            claim.share("numa-1", SHARE, Map.of(capacity, Quantity.of(3)));
        }
        return provider.prepare(claim.build(), new RecordingClaimContext());
    }
}

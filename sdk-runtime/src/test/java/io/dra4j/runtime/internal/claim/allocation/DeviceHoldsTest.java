// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds.HoldConflict;
import io.dra4j.testkit.Scenarios;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Claims that hold devices, one after the other, as device-holds.txt says. */
class DeviceHoldsTest implements ScenarioSteps {

    private final DeviceHolds devices = new DeviceHolds("drv.example");
    private final Map<String, ClaimRecord> committed = new LinkedHashMap<>();
    private Inventory inventory = Inventory.of();

    private static Map<String, Quantity> amount(String amount) {
        String[] parts = amount.split("=");
        return Map.of(parts[0], new Quantity(parts[1]));
    }

    /** A device with the counters that it takes, and its hardware. */
    private static Device taking(String words) {
        String[] parts = words.split(",");
        return Device.builder(parts[0])
                .consumes(CounterConsumption.of("gpu", amount(parts[1])))
                .physicalId(parts.length == 2 ? null : parts[2])
                .build();
    }

    private static HeldDevice held(String words) {
        String[] parts = words.split(",");
        String[] name = parts[0].split("/");
        HeldDevice.Builder held = HeldDevice.builder(
                "r", new PoolName(name.length == 1 ? "node" : name[0]), new DeviceName(name[name.length - 1]));
        for (String part : List.of(parts).subList(1, parts.length)) {
            switch (part.charAt(0)) {
                case 'a' -> held.adminAccess(part.equals("admin"));
                case '#' -> held.shareId(part.substring(1));
                case '@' -> held.physicalId(part.substring(1));
                default -> held.consumedCapacity(amount(part));
            }
        }
        return held.build();
    }

    private void put(String claim, List<HeldDevice> held) {
        ClaimRef ref = new ClaimRef("ns", claim, "uid-" + claim);
        committed.put(claim, new ClaimRecord(ref, Phase.PREPARING, "boot", held, null, null, null, null, null));
    }

    private PrepareException refusal(String claim, List<HeldDevice> wanted) {
        return catchThrowableOfType(
                PrepareException.class,
                () -> devices.conflict("uid-" + claim, wanted, ClaimIndex.of(committed.values()), inventory)
                        .ifPresent(HoldConflict::refuse));
    }

    @Override
    public void run(String[] words, String text) {
        Stream<String> rest = Stream.of(words).skip(1);
        switch (words[0]) {
            case "offers" -> {
                List<Device> offered = rest.map(DeviceHoldsTest::taking).toList();
                CounterSet gpu = CounterSet.of("gpu", amount("memory=80Gi"));
                inventory = Inventory.of(Pool.ofNode("node", offered).withCounterSets(List.of(gpu)));
            }
            case "shares" -> {
                Map.Entry<String, Quantity> capacity =
                        amount(words[1]).entrySet().iterator().next();
                Device gpu = Device.builder("gpu-0")
                        .allowMultipleAllocations(true)
                        .capacity(capacity.getKey(), capacity.getValue().text())
                        .build();
                inventory = Inventory.of(Pool.ofNode("node", List.of(gpu)));
            }
            case "has" -> put(words[1], rest.skip(1).map(DeviceHoldsTest::held).toList());
            case "releases" -> committed.remove(words[1]);
            case "holds" -> {
                List<HeldDevice> wanted =
                        rest.skip(1).map(DeviceHoldsTest::held).toList();
                assertThat(refusal(words[1], wanted)).isNull();
                put(words[1], wanted);
            }
            case "refused" ->
                assertThat(refusal(
                                words[1],
                                rest.skip(1).map(DeviceHoldsTest::held).toList()))
                        .hasMessageContainingAll(text.split(" \\| "))
                        .hasMessageNotContaining("ns/a");
            case "log-has" ->
                assertThat(refusal(
                                words[1],
                                rest.skip(1).map(DeviceHoldsTest::held).toList()))
                        .hasRootCauseMessage(text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("device-holds.txt")
    void aDeviceIsHeldByOneClaimUnlessItIsShared(String scenario) throws Exception {
        play(scenario);
    }
}

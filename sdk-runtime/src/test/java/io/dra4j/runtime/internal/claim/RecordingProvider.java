// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** A provider that records its calls, and can be made to fail. */
final class RecordingProvider implements DeviceProvider {

    final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    final List<HeldClaim> unprepared = Collections.synchronizedList(new ArrayList<>());
    volatile boolean changesNothing;
    volatile int devices = 2;
    volatile List<String> hardware = List.of(); // the physical ids of the first devices
    private List<?> read = List.of(); // guarded by this
    private Inventory inventory = Inventory.of(); // guarded by this
    volatile int asked; // for the inventory
    volatile Action onPrepare = (claim, context) -> {};
    volatile Undo onUnprepare = claim -> {};
    volatile Optional<ProviderState> recordedByUnprepare = Optional.empty();
    volatile UnaryOperator<PreparedClaim> results = UnaryOperator.identity();

    interface Action {
        void run(AllocatedClaim claim, ClaimContext context) throws Exception;
    }

    interface Undo {
        void run(HeldClaim claim) throws Exception;
    }

    /** Lets all prepares fail. */
    void failPrepare(Throwable failure) {
        onPrepare = (claim, context) -> fail(failure);
    }

    /** Lets all unprepares fail. */
    void failUnprepare(Throwable failure) {
        onUnprepare = claim -> fail(failure);
    }

    private static void fail(Throwable failure) throws Exception {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (Exception) failure;
    }

    @Override
    public synchronized Inventory inventory() {
        asked++;
        List<?> present = List.of(devices, hardware);
        if (!read.equals(present)) {
            read = present;
            inventory = Inventory.of(Pool.ofNode(
                    "node", IntStream.range(0, devices).mapToObj(this::device).toList()));
        }
        return inventory;
    }

    private Device device(int number) {
        String id = number < hardware.size() ? hardware.get(number) : null;
        Device.Builder device = Device.builder("gpu-" + number).physicalId(id);
        return device.allowMultipleAllocations(true).build();
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws Exception {
        calls.add("prepare " + claim.ref().uid());
        onPrepare.run(claim, context);
        return results.apply(PreparedClaim.of(
                claim.devices().stream().map(RecordingProvider::device).toList()));
    }

    private static PreparedDevice device(AllocatedDevice device) {
        String name = device.device().value();
        return PreparedDevice.of(
                device, ContainerEdits.builder().env("DEVICE", name).build());
    }

    @Override
    public boolean changesNothing(AllocatedClaim claim) {
        return changesNothing;
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) throws Exception {
        calls.add("unprepare " + claim.ref().uid());
        unprepared.add(claim);
        recordedByUnprepare.ifPresent(context::checkpoint);
        onUnprepare.run(claim);
    }
}

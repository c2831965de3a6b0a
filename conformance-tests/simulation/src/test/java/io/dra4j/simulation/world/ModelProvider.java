// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.PrepareException;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.world.Hardware.Setting;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The provider of one process for the simulated {@link Hardware}: correct, unless it is told to be wrong.
 *
 * <p>It checkpoints what it is about to set, but for shares, which it finds again by the held devices: all of it at the
 * beginning, or step by step. So it does when it clears what it has set, or not.
 */
public final class ModelProvider implements DeviceProvider {

    /** A mistake of a provider. */
    public enum Wrong {
        NOTHING,
        /** It returns its state, and does not checkpoint it before it sets anything. */
        NO_CHECKPOINT,
        /** It clears the first setting of a claim alone. */
        UNDOES_HALF,
        /** It clears what this process has set. */
        TRUSTS_MEMORY,
        /** It looks devices up by their names, which may mean other hardware by now. */
        BY_NAME,
        /** It says that shares change nothing. */
        CHANGES_SOMETHING
    }

    /** The configuration of a device with a mode. */
    public record Mode(String mode) {
        static final String VERSION = "sim.example.com/v1";

        static final ConfigType<Mode> TYPE = ConfigType.builder(VERSION, "Mode", Mode.class)
                .defaults(() -> new Mode("default"))
                .validate(given -> given.mode == null ? List.of("mode is missing") : List.of())
                .changesDevice(given -> !given.mode.equals("default"))
                .build();
    }

    /** A mode that is refused when it is set. */
    private static final String BROKEN = "broken";

    private static final JsonMapper JSON = new JsonMapper();

    private final Hardware hardware;
    private final Wrong wrong;
    private final Map<String, List<Setting>> memory = new LinkedHashMap<>();
    private boolean isSuspended;

    public ModelProvider(Hardware hardware, Wrong wrong) {
        this.hardware = hardware;
        this.wrong = wrong;
    }

    @Override
    public List<ConfigType<?>> configTypes() {
        return List.of(Mode.TYPE);
    }

    @Override
    public void start(DriverContext context) {
        hardware.follow(Simulation.process(), context::inventoryChanged);
    }

    @Override
    public Inventory inventory() throws IOException {
        requireInUse("inventory");
        return hardware.read();
    }

    @Override
    public boolean changesNothing(AllocatedClaim claim) {
        return needs(claim).stream().allMatch(one -> wrong == Wrong.CHANGES_SOMETHING && isFoundAgain(one));
    }

    private static boolean isFoundAgain(Setting setting) {
        return !setting.share().isEmpty();
    }

    private List<Setting> needs(AllocatedClaim claim) {
        List<Setting> needs = new ArrayList<>();
        claim.devices()
                .forEach(one ->
                        needs.addAll(hardware.needs(one.held(), claim.ref().uid())));
        return needs;
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws IOException {
        requireInUse("prepare of claim " + claim.ref().uid());
        hardware.enter(claim.ref().uid());
        if (!hardware.of(claim.ref().uid()).isEmpty()) {
            hardware.misused("prepare of claim " + claim.ref().uid() + ", of which a part is set");
        }
        try {
            return prepared(claim, context);
        } finally {
            hardware.leave(claim.ref().uid());
        }
    }

    private PreparedClaim prepared(AllocatedClaim claim, ClaimContext context) throws IOException {
        List<Setting> needs = needs(claim);
        boolean isStateNeeded = !needs.stream().allMatch(ModelProvider::isFoundAgain);
        boolean checkpoints = isStateNeeded && wrong != Wrong.NO_CHECKPOINT;
        int ahead = checkpoints && Simulation.random().nextBoolean() ? 1 : needs.size();
        memory.put(claim.ref().uid(), needs);
        for (int i = 0; i < needs.size(); i++) {
            checkpointIf(checkpoints && i % ahead == 0, needs.subList(0, Math.min(needs.size(), i + ahead)), context);
            hardware.set(needs.get(i));
        }
        if (claim.devices().stream()
                .anyMatch(one -> one.config(Mode.TYPE).value().mode().equals(BROKEN))) {
            throw new PrepareException("the mode is broken");
        }
        PreparedClaim.Builder prepared = PreparedClaim.builder();
        claim.devices().forEach(device -> prepared.device(prepared(device)));
        boolean isStateKept = checkpoints && Simulation.random().nextBoolean(); // the last checkpoint is the state
        return (isStateNeeded && !isStateKept ? prepared.state(state(needs)) : prepared).build();
    }

    private static void checkpointIf(boolean condition, List<Setting> settings, ClaimContext context) {
        if (condition) {
            context.checkpoint(state(settings));
        }
    }

    private PreparedDevice prepared(AllocatedDevice device) {
        String name = device.device().value();
        String uuid = hardware.uuid(device.held());
        ContainerEdits.Builder edits = ContainerEdits.builder()
                .env(
                        variable(name),
                        uuid + " " + device.config(Mode.TYPE).value().mode());
        if (!device.adminAccess() && !hardware.parts(name).isEmpty()) {
            edits.deviceNode(DeviceNode.of("/dev/" + name));
        }
        DeviceStatus.Condition ready =
                new DeviceStatus.Condition("Ready", ConditionStatus.TRUE, "Set", "It is " + uuid);
        return PreparedDevice.builder(device)
                .edits(edits.build())
                .status(reports(name, device.adminAccess()) ? DeviceStatus.of(ready) : null)
                .metadata(
                        hardware.isDescribed(name)
                                ? new DeviceMetadata(Map.of(Hardware.UUID, AttributeValue.of(uuid)), null)
                                : null)
                .build();
    }

    /** Returns the variable that containers of a device have. */
    static String variable(String device) {
        return "MODEL_" + device.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private boolean reports(String device, boolean adminAccess) {
        return !adminAccess && hardware.parts(device).contains("mode");
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) throws IOException {
        String uid = claim.ref().uid();
        requireInUse("unprepare of claim " + uid);
        hardware.enter(uid);
        try {
            List<Setting> left = wrong == Wrong.TRUSTS_MEMORY ? memory.getOrDefault(uid, List.of()) : left(claim);
            int habit = Simulation.random().nextInt(3);
            int undone = wrong == Wrong.UNDOES_HALF ? Math.min(1, left.size()) : left.size();
            for (int i = 0; i < undone; i++) {
                checkpointIf(habit == 1, left.subList(i, left.size()), context);
                hardware.clear(left.get(i));
                checkpointIf(habit == 2, left.subList(i + 1, left.size()), context);
            }
        } finally {
            hardware.leave(uid);
        }
    }

    /** Returns what may be set: by the state, and without one by the devices; by a search if the record was lost. */
    private List<Setting> left(HeldClaim claim) throws IOException {
        String uid = claim.ref().uid();
        if (claim.phase() == HeldClaim.Phase.DAMAGED) {
            return hardware.search(uid);
        }
        if (claim.state() != null && wrong != Wrong.BY_NAME) {
            return List.of(JSON.readValue(claim.state().rawJson(), Setting[].class));
        }
        List<Setting> left = new ArrayList<>();
        for (HeldDevice device : claim.devices()) {
            if (device.shareId() != null || wrong == Wrong.BY_NAME) {
                left.addAll(hardware.search(uid).stream()
                        .filter(one -> one.uuid().equals(uuid(device)))
                        .toList());
            }
        }
        return left;
    }

    private String uuid(HeldDevice device) {
        return wrong == Wrong.BY_NAME ? hardware.uuid(device.device().value()) : hardware.uuid(device);
    }

    private static ProviderState state(List<Setting> settings) {
        try {
            return new ProviderState(1, JSON.writeValueAsString(settings));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void suspend() {
        isSuspended = true;
    }

    @Override
    public void resume() {
        isSuspended = false;
    }

    private void requireInUse(String call) {
        if (isSuspended) {
            hardware.misused(call + " while the provider is suspended");
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.publish.ManualLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The parts that reports are tested with: a directory, statuses in memory, and two devices. */
abstract class ReportsUnderTest {

    static final ClaimRef CLAIM = new ClaimRef("ns", "claim", "uid-1");
    static final DeviceStatus READY = DeviceStatus.of(new Condition("Ready", ConditionStatus.TRUE, "Up", ""));
    static final DeviceStatus BROKEN =
            DeviceStatus.of(new Condition("Ready", ConditionStatus.FALSE, "Down", "unplugged"));
    static final DeviceMetadata EMPTY = new DeviceMetadata(Map.of(), null);
    static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    final FakeStatuses statuses = new FakeStatuses();
    final ManualLoop loop = new ManualLoop();
    final Map<ClaimRef, HeldClaim> held = new HashMap<>();
    final AllocatedDevice gpu0 = device("r", null, "gpu-0");
    final AllocatedDevice gpu1 = device("r", null, "gpu-1");
    ClaimReports reports;

    @BeforeEach
    void start() {
        start("v1beta1", "v1alpha1");
        hold(Phase.PREPARED, gpu0, gpu1);
    }

    void start(String... metadataVersions) {
        reports = new ClaimReports(
                new ClaimReports.Parts(
                        "gpu.example.com",
                        "node",
                        directory,
                        ref -> Optional.ofNullable(held.get(ref)),
                        statuses,
                        List.of(metadataVersions),
                        loop),
                loop);
    }

    static AllocatedDevice device(String request, @Nullable String sub, String name) {
        return device(request, sub, name, null);
    }

    static AllocatedDevice device(String request, @Nullable String sub, String name, @Nullable String shareId) {
        return AllocatedDevice.builder(request, new PoolName("node"), new DeviceName(name))
                .subrequest(sub)
                .shareId(shareId)
                .build();
    }

    void hold(Phase phase, AllocatedDevice... devices) {
        List<HeldDevice> all = Stream.of(devices).map(AllocatedDevice::held).toList();
        held.put(CLAIM, HeldClaim.builder(CLAIM).phase(phase).devices(all).build());
    }

    PreparedClaim prepare(String json, PreparedDevice... devices) {
        List<AllocatedDevice> allocated =
                Stream.of(devices).map(PreparedDevice::allocated).toList();
        PreparedClaim answer = reports.prepared(
                AllocatedClaim.builder(CLAIM).devices(allocated).rawJson(json).build(),
                PreparedClaim.of(List.of(devices)));
        reports.reestablish(CLAIM.uid());
        return answer;
    }

    /** Prepares a device, and sends that it is ready. */
    void report() {
        prepare("{}", plain(gpu0).withStatus(READY));
        run();
    }

    static PreparedDevice plain(AllocatedDevice device) {
        return PreparedDevice.of(device, ContainerEdits.NONE);
    }

    void run() {
        loop.advance(Duration.ZERO);
    }

    JsonNode entry(int index) throws IOException {
        return JSON.readTree(statuses.last().devices().get(index));
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.ResultDevice;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claim records for the tests. */
final class Records {

    private Records() {}

    /** Opens a journal for the boot of these records, on a disk that needs no time. */
    static Journal openWithoutSync(Path file, LockFile locks) {
        return Journal.open(new JournalStore.Place(file, "boot-1", locks, Meters.none(), (channel, metadata) -> {}));
    }

    static ClaimRecord started(String uid) {
        return started(uid, "gpu-0");
    }

    static ClaimRecord started(String uid, String device) {
        return record(uid, Phase.PREPARING, device, null, null);
    }

    private static ClaimRecord record(
            String uid, Phase phase, String device, @Nullable ProviderState state, @Nullable Results results) {
        ClaimRef claim = new ClaimRef("ns", "claim", uid);
        return new ClaimRecord(claim, phase, "boot-1", List.of(device(device)), state, results, null, null, null);
    }

    static ClaimRecord prepared(String uid) {
        return prepared(
                uid, List.of(), ContainerEdits.builder().env("CLAIM", uid).build());
    }

    static ClaimRecord prepared(String uid, List<ResultDevice> results, ContainerEdits edits) {
        ProviderState state = new ProviderState(3, "{\"instance\":7}");
        return record(uid, Phase.PREPARED, "gpu-0", state, new Results(results, edits));
    }

    /** A record that uses every field. */
    static ClaimRecord full(String uid) {
        ContainerEdits edits = ContainerEdits.builder()
                .env("A", "b=c \"é\"")
                .deviceNode(DeviceNode.builder("/dev/a")
                        .hostPath("/dev/b")
                        .type("c")
                        .major(1L)
                        .minor(2L)
                        .fileMode(384)
                        .permissions("rw")
                        .uid(3L)
                        .gid(4L)
                        .build())
                .mount(new Mount("/h", "/c", List.of("ro"), "tmpfs"))
                .hook(new Hook(HookName.POSTSTOP, "/bin/x", List.of("x"), List.of("K=v"), Duration.ofSeconds(3)))
                .netDevice(new NetDevice("eth1", "net0"))
                .additionalGid(4294967295L)
                .intelRdt(new IntelRdt("clos", "L3", "MB", List.of("S"), true))
                .build();
        return prepared(
                uid,
                List.of(new ResultDevice(device("gpu-0"), edits, List.of("v/c=d"))),
                ContainerEdits.builder().env("CLAIM", uid).build());
    }

    /** Returns the record that a scenario names, such as {@code uid-1=full}. */
    static ClaimRecord record(String words) {
        String[] parts = words.split("=");
        return switch (parts[1]) {
            case "started" -> started(parts[0]);
            case "full" -> full(parts[0]);
            case "unpreparing" -> full(parts[0]).unpreparing();
            default -> throw new IllegalArgumentException(words);
        };
    }

    /** Returns the claims as scenarios name them, each with the record that it has, or with its phase. */
    static Stream<String> shown(List<ClaimRecord> claims) {
        return claims.stream().map(claim -> {
            String uid = claim.ref().uid();
            return Stream.of("full", "started", "unpreparing")
                    .map(each -> uid + "=" + each)
                    .filter(each -> claim.equals(record(each)))
                    .findFirst()
                    .orElse(uid + "=" + claim.phase());
        });
    }

    private static HeldDevice device(String name) {
        return HeldDevice.builder("req", new PoolName("node"), new DeviceName(name))
                .shareId("0f8fad5b-d9cb-469f-a165-70867728950e")
                .consumedCapacity(Map.of("memory", new Quantity("80Gi")))
                .adminAccess(true)
                .build();
    }
}

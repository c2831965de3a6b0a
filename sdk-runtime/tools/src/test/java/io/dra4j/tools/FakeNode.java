// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import io.dra4j.runtime.internal.command.DriverNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** The node {@code node-a} of the driver {@code gpu.example.com}, in a folder. */
public final class FakeNode implements DriverNode.Devices {

    public static final ClaimRef CLAIM = new ClaimRef("default", "train", "5f9b1c5e-0000-4000-8000-000000000001");

    private final Path folder;
    private final Supplier<Inventory> inventory;
    private final List<Check> checks;

    /** The boot that the driver's checks are given, and the commands for the pods of {@link #CLAIM}. */
    public final List<String> given = new ArrayList<>();

    /** Creates its directories, except the driver's own. */
    public FakeNode(Path folder, Supplier<Inventory> inventory, Check... checks) throws IOException {
        this.folder = folder;
        this.inventory = inventory;
        this.checks = List.of(checks);
        for (String directory : List.of("kubelet/plugins", "kubelet/plugins_registry")) {
            Files.createDirectories(folder.resolve(directory));
        }
        Path boot = folder.resolve("proc/sys/kernel/random/boot_id");
        Files.createDirectories(boot.getParent());
        Files.writeString(boot, "boot-1\n");
    }

    /** Returns the node as the options of a driver have it. */
    public DriverNode with(Path kubeconfig, Path cdiRoot, Map<String, String> gates) {
        return new DriverNode(
                "gpu.example.com",
                "node-a",
                kubeconfig,
                cdiRoot,
                folder.resolve("kubelet/plugins"),
                folder.resolve("kubelet/plugins_registry"),
                folder.resolve("proc"),
                gates,
                () -> this,
                api -> checks);
    }

    @Override
    public Inventory inventory(List<HeldClaim> held) {
        return inventory.get();
    }

    @Override
    public List<Check> checks(String bootId, List<HeldClaim> held, Function<ClaimRef, List<String>> podDeletion) {
        given.add(bootId);
        given.addAll(podDeletion.apply(CLAIM));
        return checks;
    }

    @Override
    public void close() {}
}

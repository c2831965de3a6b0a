// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** Reads all views of a node, each as far as it can be read, and changes nothing. */
final class ViewReader {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final AuditedDriver driver;
    private final Path procRoot;
    private final Supplier<ClaimReader> cluster;
    private final Function<List<HeldClaim>, Inventory> hardware;

    /**
     * Creates a reader.
     *
     * @param cluster connects to the API server; what it throws is why its claims are not checked
     * @param hardware reads the node's devices, or throws in the same way
     */
    ViewReader(
            AuditedDriver driver,
            Path procRoot,
            Supplier<ClaimReader> cluster,
            Function<List<HeldClaim>, Inventory> hardware) {
        this.driver = driver;
        this.procRoot = procRoot;
        this.cluster = cluster;
        this.hardware = hardware;
    }

    /**
     * Reads the views.
     *
     * @throws DraException if not even the node's boot can be read
     */
    public Views read() {
        String boot = BootId.read(procRoot);
        View<JournalReading> journal = View.read(() -> journal(boot));
        List<HeldClaim> held = journal.orElse(JournalReading.of(List.of())).claims().stream()
                .map(claim -> claim.held(boot))
                .toList();
        return new Views(
                driver,
                boot,
                journal,
                View.read(() -> SpecFiles.read(driver)),
                View.read(() -> KubeletState.read(driver.kubeletState(), driver.name())),
                View.read(this::claims),
                View.read(() -> hardware.apply(held)),
                OtherCheckpoint.read(driver.checkpoint()));
    }

    private JournalReading journal(String boot) {
        if (!Files.isDirectory(driver.directory())) {
            throw new NotCheckedException("there is no directory "
                    + driver.directory()
                    + "; has the driver run here, and is it the kubelet's plugins"
                    + " directory?");
        }
        return Journal.read(driver.journal(), boot);
    }

    private Map<ClaimRef, ClaimObject> claims() {
        try {
            return cluster.get().readAll(LIMIT);
        } catch (ClusterException e) {
            throw new NotCheckedException("the API server's claims: " + e.getMessage(), e);
        }
    }
}

// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.command.DriverNode;
import io.dra4j.runtime.internal.command.DriverNode.Devices;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.tools.audit.Views.AuditedDriver;
import io.dra4j.tools.audit.Views.OtherCheckpoint;
import io.dra4j.tools.audit.Views.SpecFiles;
import io.dra4j.tools.audit.Views.View;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Audits a node: reads its views, and cross-checks them.
 *
 * <p>The driver may be working at the same time: findings are checked again, with fresh views.
 */
public final class NodeAudit {

    private final DriverNode node;
    private final Devices devices;
    private final TwoLooks looks;

    /**
     * Creates an audit.
     *
     * @param looks when to look again
     */
    public NodeAudit(DriverNode node, Devices devices, TwoLooks looks) {
        this.node = node;
        this.devices = devices;
        this.looks = looks;
    }

    /**
     * Runs the checks, and runs them again if something is found.
     *
     * @throws io.dra4j.api.error.DraException if the node's boot can't be read
     */
    public Report report() {
        String subject = "node %s, driver %s".formatted(node.node(), node.driver());
        return looks.report(() -> Report.of("audit", subject, checks()));
    }

    private List<Check> checks() {
        Path directory = node.plugins().toAbsolutePath().normalize().resolve(node.driver());
        AuditedDriver driver = new AuditedDriver(node.driver(), node.node(), directory, node.cdiRoot());
        try (Connection connection = new Connection()) {
            Views views = new ViewReader(
                            driver, node.procRoot(), () -> connection.open().claimReader(), devices::inventory)
                    .read();
            List<Check> checks = new ArrayList<>(Contradictions.of(views));
            checks.addAll(own(views));
            return checks;
        }
    }

    private List<Check> own(Views views) {
        View<JournalReading> journal = views.journal();
        List<HeldClaim> held = journal.orElse(JournalReading.of(List.of())).claims().stream()
                .map(claim -> claim.held(views.bootId()))
                .toList();
        return devices.checks(views.bootId(), held, new Fixes(views)::deletePods).stream()
                .<Check>map(check -> new OwnCheck(check, journal))
                .toList();
    }

    /** A check of the driver, which is not run if the journal can't be read. */
    private record OwnCheck(Check check, View<JournalReading> journal) implements Check {
        @Override
        public String id() {
            return check.id();
        }

        @Override
        public CheckResult look() {
            journal.get();
            return check.look();
        }
    }

    /** The API server, connected to when it is first asked. */
    private final class Connection implements AutoCloseable {
        private @Nullable Cluster cluster;

        Cluster open() {
            Cluster opened = Cluster.connect(node.kubeconfig(), node.driver(), node.node(), Meters.none());
            cluster = opened;
            return opened;
        }

        @Override
        public void close() {
            if (cluster != null) {
                cluster.close();
            }
        }
    }

    /** Reads all views of a node, each as far as it can be read, and changes nothing. */
    private static final class ViewReader {

        private static final Duration LIMIT = Duration.ofSeconds(20);

        private final AuditedDriver driver;
        private final Path procRoot;
        private final Supplier<ClaimReader> cluster;
        private final Function<List<HeldClaim>, Inventory> hardware;

        /**
         * Creates a reader.
         *
         * @param cluster connects to the API server; its exception is the reason why its claims are not checked
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
                        + "; has the driver run here, and is it the kubelet's plugins directory?");
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
}

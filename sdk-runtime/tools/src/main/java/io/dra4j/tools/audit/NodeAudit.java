// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.cluster.ClaimObject;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Audits a node: reads its views, and cross-checks them.
 *
 * <p>The driver may be working at the same time: findings are checked again, with fresh views.
 *
 * @param looks when to look again
 */
public record NodeAudit(DriverNode node, Devices devices, TwoLooks looks) {

    private static final Duration LIMIT = Duration.ofSeconds(20);

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
        Views views = read();
        View<JournalReading> journal = views.journal();
        List<Check> checks = new ArrayList<>(Contradictions.of(views));
        List<HeldClaim> held = held(journal, views.bootId());
        for (Check own : devices.checks(views.bootId(), held, new Fixes(views)::deletePods)) {
            checks.add(Check.of(own.id(), () -> {
                journal.get(); // throws the reason if it can't be read
                return own.look();
            }));
        }
        return checks;
    }

    private static List<HeldClaim> held(View<JournalReading> journal, String boot) {
        return journal.orElse(JournalReading.of(List.of())).claims().stream()
                .map(claim -> claim.held(boot))
                .toList();
    }

    /** Reads all views, each as far as it can be read, and changes nothing. */
    private Views read() {
        Path directory = node.plugins().toAbsolutePath().normalize().resolve(node.driver());
        AuditedDriver driver = new AuditedDriver(node.driver(), node.node(), directory, node.cdiRoot());
        String boot = BootId.read(node.procRoot());
        View<JournalReading> journal = View.read(() -> journal(driver, boot));
        return new Views(
                driver,
                boot,
                journal,
                View.read(() -> SpecFiles.read(driver)),
                View.read(() -> KubeletState.read(driver.kubeletState(), driver.name())),
                View.read(this::claims),
                View.read(() -> devices.inventory(held(journal, boot))),
                OtherCheckpoint.read(driver.checkpoint()));
    }

    private static JournalReading journal(AuditedDriver driver, String boot) {
        if (!Files.isDirectory(driver.directory())) {
            throw new NotCheckedException("there is no directory "
                    + driver.directory()
                    + "; has the driver run here, and is it the kubelet's plugins directory?");
        }
        return Journal.read(driver.journal(), boot);
    }

    private Map<ClaimRef, ClaimObject> claims() {
        try (Cluster cluster = Cluster.connect(node.kubeconfig(), node.driver(), node.node(), Meters.none())) {
            Map<ClaimRef, ClaimObject> claims = new HashMap<>();
            cluster.claimReader().readAll(LIMIT, claims::put);
            return claims;
        } catch (ClusterException e) {
            throw new NotCheckedException("the API server's claims: " + e.getMessage(), e);
        }
    }
}

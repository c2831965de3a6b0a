// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.Result;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An audit of a node: its views are read, and held against each other.
 *
 * <p>The driver may be at work meanwhile, so that a view that is read later knows more. What is
 * found is therefore looked at again, with fresh views: only what is found twice is a finding.
 */
public final class NodeAudit {

    private final Settings settings;
    private final Function<List<HeldClaim>, Inventory> hardware;
    private final Function<List<HeldClaim>, List<Check>> own;
    private final Runnable pause;

    /**
     * Creates an audit.
     *
     * @param hardware reads the node's devices, given the claims of the journal
     * @param own the driver's own checks, given the claims of the journal
     * @param pause passes the time before the second look
     */
    public NodeAudit(
            Settings settings,
            Function<List<HeldClaim>, Inventory> hardware,
            Function<List<HeldClaim>, List<Check>> own,
            Runnable pause) {
        this.settings = settings;
        this.hardware = hardware;
        this.own = own;
        this.pause = pause;
    }

    /**
     * The place of the views.
     *
     * @param directory the driver's directory below the kubelet's plugins
     * @param kubeconfig {@code null} for the configuration inside a pod
     */
    public record Settings(
            String driver,
            String node,
            Path directory,
            Path cdiRoot,
            Path procRoot,
            @Nullable Path kubeconfig) {}

    /**
     * Looks, and looks again if something is found.
     *
     * @throws io.dra4j.api.error.DraException if the node's boot can't be read
     */
    public Report report() {
        String subject = "node %s, driver %s".formatted(settings.node(), settings.driver());
        Report first = Report.of("audit", subject, checks());
        if (first.findings().isEmpty()) {
            return first;
        }
        pause.run();
        Set<String> found = new HashSet<>();
        first.findings().forEach(one -> found.add(key(one)));
        return Report.of(
                "audit",
                subject,
                checks().stream().map(check -> (Check) new SecondLook(check, found)).toList());
    }

    private static String key(Finding finding) {
        return finding.id() + " " + finding.object();
    }

    private record SecondLook(Check check, Set<String> before) implements Check {

        @Override
        public String id() {
            return check.id();
        }

        @Override
        public Result look() {
            Result now = check.look();
            return new Result(
                    now.fact(),
                    now.findings().stream().filter(one -> before.contains(key(one))).toList());
        }
    }

    private List<Check> checks() {
        AuditedDriver driver =
                new AuditedDriver(
                        settings.driver(),
                        settings.node(),
                        settings.directory(),
                        settings.cdiRoot());
        try (Connection connection = new Connection()) {
            Views views =
                    new ViewReader(
                                    driver,
                                    settings.procRoot(),
                                    () -> connection.open().claimReader(),
                                    hardware)
                            .read();
            List<Check> checks = new ArrayList<>(Contradictions.of(views));
            if (views.journal().isRead()) {
                checks.addAll(
                        own.apply(
                                views.recorded().stream()
                                        .map(claim -> claim.held(views.bootId()))
                                        .toList()));
            }
            return checks;
        }
    }

    /** The API server, connected to when it is first asked. */
    private final class Connection implements AutoCloseable {
        private @Nullable Cluster cluster;

        Cluster open() {
            Cluster opened =
                    Cluster.connect(
                            settings.kubeconfig(),
                            settings.driver(),
                            settings.node(),
                            Meters.none());
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
}

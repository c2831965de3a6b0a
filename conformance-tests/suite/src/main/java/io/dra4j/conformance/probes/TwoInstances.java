// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Two instances of a driver side by side, as during a rolling update. */
public record TwoInstances(TestContext context, Running old, Running fresh) {

    /**
     * An instance.
     *
     * @param process its process
     * @param info its answer to GetInfo
     * @param registration its registration socket
     */
    public record Running(Instance process, PluginInfo info, Path registration) {}

    /** Instances that already run under a pod's UID, so that one of them can be the older. */
    private static final class Known {
        private final Set<Running> running = new HashSet<>();
    }

    /**
     * Starts a second instance alongside the running one, which is first replaced if it has no pod UID.
     *
     * @throws Violation if they do not run side by side
     */
    public static TwoInstances start(TestContext context) {
        Set<Running> known = context.shared(Known.class, Known::new).running;
        Optional<Running> older = known.stream()
                .filter(r -> r.process() == context.driver().current())
                .findFirst();
        if (older.isEmpty()) {
            context.driver().terminate();
        }
        Running old = older.orElseGet(() -> launch(context));
        context.driver().use(old.process());
        context.awaitPools();
        Running fresh = launch(context);
        known.add(old);
        known.add(fresh);
        return new TwoInstances(context, old, fresh);
    }

    private static Running launch(TestContext context) {
        int before = context.kubelet().events().size();
        Instance process =
                context.driver().launch(Map.of("POD_UID", UUID.randomUUID().toString()));
        try {
            context.driver().awaitRegistered(process, before);
        } catch (DriverUnusable e) {
            throw new Violation("an instance with a POD_UID did not start: " + e.getMessage());
        }
        Path socket = context.kubelet().events(Kind.REGISTERED, before).get(0).socket();
        List<PluginInfo> plugins = context.kubelet().plugins(context.place().driver());
        return new Running(process, plugins.get(plugins.size() - 1), socket);
    }

    public List<Running> both() {
        return List.of(old, fresh);
    }

    public ClaimResult prepared(Running at, KubeletClaim claim) {
        CallResult result = context.calls().prepareAt(at.info(), claim);
        return context.calls().answerOf(claim, result, "%s did not prepare claim %s: %s", name(at), claim.uid());
    }

    public void unprepared(Running at, KubeletClaim claim) {
        Violation.ifPresent(
                context.calls().unprepareAt(at.info(), claim).complaint(),
                "%s did not unprepare claim %s: %s",
                name(at),
                claim.uid());
    }

    private String name(Running at) {
        return at == old ? "the older instance" : "the newer instance";
    }

    /** Stops the older, and continues with the newer. */
    public void endOld() {
        context.driver().use(old.process());
        context.driver().terminate();
        context.driver().use(fresh.process());
    }

    /** Kills one, and continues with the other. */
    public void kill(Running one) {
        context.driver().use(one.process());
        context.driver().kill();
        context.driver().use((one == old ? fresh : old).process());
    }
}

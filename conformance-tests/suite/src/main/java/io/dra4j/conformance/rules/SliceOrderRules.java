// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.Pools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.Restarts;
import java.util.List;
import java.util.Map;

/** The order of devices over all slices, which is the scheduler's order of preference. */
@ExecutionGroup.On(ExecutionGroup.SLICES)
record SliceOrderRules(TestContext context, Publishing publishing) {

    SliceOrderRules(TestContext context) {
        this(context, new Publishing(context));
    }

    @Rule("DRA-SLICE-21")
    void theOrderOfDevicesStays() throws InterruptedException {
        Pools before = publishing.settled();
        NotApplicable.unless(
                before.order().values().stream().anyMatch(devices -> devices.size() > 1),
                "no pool has two devices, which could be in another order");
        Restarts restarts = context.shared(Restarts.class, () -> Restarts.of(context));
        restarts.after().forEach(one -> compare(restarts.before(), one.pools(), one.restart()));
        if (context.hooks().has("unplug") && context.hooks().has("plug")) {
            changeAndRestore(before);
        } else {
            context.remark("without the hooks plug and unplug, only %d restarts were tried"
                    .formatted(restarts.after().size()));
        }
    }

    private void changeAndRestore(Pools before) throws InterruptedException {
        boolean isPlugged = false;
        try {
            context.hooks().run("unplug");
            publishing.await(
                    seen -> seen.settled() && !Publishing.like(before).test(seen),
                    context.timeouts().change());
            context.hooks().run("plug");
            isPlugged = true;
            publishing.restored(before, "the hook plug", context.timeouts().change());
        } finally {
            if (!isPlugged) {
                context.hooks().run("plug");
            }
        }
        compare(before, publishing.settled(), "the hooks unplug and plug");
    }

    private static void compare(Pools before, Pools seen, String after) {
        Map<String, List<String>> now = seen.order();
        before.order().forEach((pool, wanted) -> compare(pool, wanted, now.getOrDefault(pool, List.of()), after));
    }

    private static void compare(String pool, List<String> wanted, List<String> now, String after) {
        for (int place = 0; place < Math.min(wanted.size(), now.size()); place++) {
            Violation.unless(wanted.get(place).equals(now.get(place)))
                    .because(
                            "after %s the slices of pool %s, sorted by name, have their %d devices in another order: in place %d is %s, where %s was",
                            after, pool, wanted.size(), place + 1, now.get(place), wanted.get(place));
        }
    }
}
